package conduct

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Links are served by toxiproxy's own server, one service a run with one port a
// link, on the cores of the subject. Every link is proxied in every cell, at zero
// latency too, so that the hop itself is no difference between cells.

const (
	linkAPIPort   = 8474  // toxiproxy's own
	linkFirstPort = 20001 // of the first link
)

// linkProxy describes the proxy service for the links of a matrix.
func (c *Conductor) linkProxy(links []experiment.LinkSpec) experiment.Service {
	self, ports := experiment.SelfRef(linkAPIPort), []int{linkAPIPort}
	for i := range links {
		ports = append(ports, linkFirstPort+i)
	}
	return experiment.Service{
		Name: experiment.LinkProxyName, Build: &c.LinkProxy, Role: experiment.RoleSubject,
		Env:   []experiment.EnvVar{{Name: "LISTEN", Value: self}},
		Ports: ports,
		Ready: &experiment.Step{HTTP: experiment.Literal(fmt.Sprintf(":%d/version", linkAPIPort)), Within: 30 * time.Second},
	}
}

// linkServer is the running proxy of one run.
type linkServer struct {
	proc  experiment.Proc
	links []experiment.Link
}

// open creates the proxies of all links that lead to a service, once that runs.
func (l *linkServer) open(ctx context.Context, to string, target experiment.Proc) error {
	for i, link := range l.links {
		if link.To != to {
			continue
		}
		upstream, err := target.Addr(link.Port, experiment.FromService)
		if err != nil {
			return err
		}
		listen, err := l.proc.Addr(linkFirstPort+i, experiment.FromService)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("link%d", i)
		if err := l.post(ctx, "/proxies", map[string]any{"name": name, "listen": listen, "upstream": upstream, "enabled": true}); err != nil {
			return fmt.Errorf("link %s to %s: %w", link.From, link.To, err)
		}
		err = l.post(ctx, "/proxies/"+name+"/toxics", map[string]any{
			"name": "delay", "type": "delay", "stream": "downstream", "toxicity": 1.0,
			"attributes": map[string]any{"delay_us": link.Latency.Microseconds()},
		})
		if err != nil {
			return fmt.Errorf("link %s to %s: %w", link.From, link.To, err)
		}
	}
	return nil
}

// addr gives the address at which from reaches port of to through its link; false
// if there is none.
func (l *linkServer) addr(from, to string, port int) (string, bool, error) {
	if l == nil {
		return "", false, nil
	}
	for i, link := range l.links {
		if link.From == from && link.To == to && link.Port == port {
			addr, err := l.proc.Addr(linkFirstPort+i, experiment.FromService)
			return addr, true, err
		}
	}
	return "", false, nil
}

func (l *linkServer) post(ctx context.Context, path string, body any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	api, err := l.proc.Addr(linkAPIPort, experiment.FromConductor)
	if err != nil {
		return err
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+api+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the link proxy answers %s: %s", resp.Status, bytes.TrimSpace(answer))
	}
	return nil
}
