package fake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// servePages answers requests with the pages of the script until the service ends. All
// of its ports are the one of that server.
func (p *proc) servePages(ctx context.Context) error {
	if p.behaviour.Pages == nil {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.pages = l.Addr().String()
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := p.behaviour.Pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, page) // the client may have gone
	})}
	p.working.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.out.write(true, fmt.Sprintln("fake: serve pages:", err))
		}
	})
	p.working.Go(func() {
		<-p.ended
		_ = server.Close() // never fails: the listener is its own
	})
	return nil
}
