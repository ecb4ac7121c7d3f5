package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// maxAnswer bounds what is read of one answer.
const maxAnswer = 1 << 20

// ask gives the answer to a step, or what is at fault with it; the error is for what
// could not be asked.
func ask(ctx context.Context, s experiment.Step, t Target) (body []byte, fault string, err error) {
	switch {
	case len(s.Run) > 0:
		return askCommand(ctx, s, t)
	case !s.HTTP.IsZero():
		return askHTTP(ctx, s, t)
	case s.Log != "":
		return askLog(ctx, s, t)
	case !s.File.IsZero():
		return askFile(ctx, s, t)
	case s.Port != 0:
		return nil, "", tryPort(ctx, s.Port, t)
	default:
		return nil, "", errors.New("the step asks nothing")
	}
}

func askCommand(ctx context.Context, s experiment.Step, t Target) ([]byte, string, error) {
	if t.Exec == nil {
		return nil, "", errors.New("commands cannot run in this service")
	}
	argv := make([]string, len(s.Run))
	for i, a := range s.Run {
		text, ok := a.Literal()
		if !ok {
			return nil, "", fmt.Errorf("%s is not resolved", a.Refs()[0])
		}
		argv[i] = text
	}
	res, err := t.Exec.Exec(ctx, argv)
	if err != nil {
		return nil, "", fmt.Errorf("run %s: %w", argv[0], err)
	}
	return res.Output[:min(len(res.Output), maxAnswer)], CommandFault(argv[0], res), nil
}

// CommandFault says what is at fault with the end of a command; empty if nothing is.
func CommandFault(name string, res experiment.ExecResult) string {
	if res.Code == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%s ended with %d: %s", name, res.Code, clip(string(res.Output))), ": ")
}

func askFile(ctx context.Context, s experiment.Step, t Target) ([]byte, string, error) {
	if t.Exec == nil {
		return nil, "", errors.New("files of this service cannot be read")
	}
	path, ok := s.File.Literal()
	if !ok {
		return nil, "", fmt.Errorf("%s is not resolved", s.File.Refs()[0])
	}
	body, err := t.Exec.ReadFile(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "there is no file " + path, nil
	case err != nil:
		return nil, "", fmt.Errorf("read %s: %w", path, err)
	default:
		return body[:min(len(body), maxAnswer)], "", nil
	}
}

// SplitHTTP takes ":PORT/PATH" apart; the path is "/" if there is none.
func SplitHTTP(form string) (port int, path string, err error) {
	rest, ok := strings.CutPrefix(form, ":")
	digits, tail, _ := strings.Cut(rest, "/")
	port, portErr := experiment.ParsePort(digits)
	if !ok || portErr != nil {
		return 0, "", fmt.Errorf("%q is no :PORT/PATH", form)
	}
	return port, "/" + tail, nil
}

func askHTTP(ctx context.Context, s experiment.Step, t Target) ([]byte, string, error) {
	form, ok := s.HTTP.Literal()
	if !ok {
		return nil, "", fmt.Errorf("%s is not resolved", s.HTTP.Refs()[0])
	}
	port, path, err := SplitHTTP(form)
	if err != nil {
		return nil, "", err
	}
	addr, err := t.Addr(port)
	if err != nil {
		return nil, "", err
	}
	if t.Owns != nil && !t.Owns(addr) {
		return nil, "", fmt.Errorf("nothing of its own listens at %s", addr)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return nil, "", err
	}
	// No proxy of the environment, no connection left open: nothing of this may
	// reach into the measurement.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, "", err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 399 {
		return nil, fmt.Sprintf("HTTP %d from %s", resp.StatusCode, form), nil
	}
	return body, "", nil
}

func askLog(ctx context.Context, s experiment.Step, t Target) ([]byte, string, error) {
	pattern, err := regexp.Compile(s.Log)
	if err != nil {
		return nil, "", err
	}
	r, err := t.Logs(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("read log: %w", err)
	}
	defer r.Close()
	seen := 0
	matched, err := matches(r, pattern, max(s.Times, 1), func() { seen++ })
	switch {
	case err == nil:
		return matched, "", nil
	case errors.Is(err, io.EOF):
		return nil, tooFew(s, seen), nil
	default:
		return nil, "", fmt.Errorf("read log: %w", err)
	}
}

// portPatience is how long a connection must stay open, silent, to count: a proxy
// in between accepts before the service listens, and then closes.
const portPatience = 20 * time.Millisecond

func tryPort(ctx context.Context, port int, t Target) error {
	addr, err := t.Addr(port)
	if err != nil {
		return err
	}
	if t.Owns != nil && !t.Owns(addr) {
		return fmt.Errorf("nothing of its own listens at %s", addr)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(portPatience)); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("port %d accepts and closes: %w", port, err)
	}
	return nil
}

// clip shortens an answer for a message.
func clip(s string) string {
	const most = 120
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
