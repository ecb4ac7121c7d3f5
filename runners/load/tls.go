package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/ceteris/ceteris/experiment"
)

// handshakeError is the fault of a handshake.
type handshakeError struct{ err error }

func (h handshakeError) Error() string { return "tls handshake: " + h.err.Error() }

func (h handshakeError) Unwrap() error { return h.err }

func (handshakeError) kind() string { return experiment.FailureTLS }

// The protocols as TLS names them.
const (
	alpnHTTP1 = "http/1.1"
	alpnHTTP2 = "h2"
)

// secured gives a dial whose connections to the target are ready to be used: with TLS the
// handshake is part of connecting. No session is resumed, so that each connection costs a
// whole handshake, whichever came before it.
func secured(l experiment.Load, target string, dial DialFunc) (DialFunc, error) {
	if l.TLS == nil {
		return dial, nil
	}
	conf, err := tlsConfig(*l.TLS, target)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	wanted := alpnHTTP1
	if l.HTTP2 {
		wanted = alpnHTTP2
	}
	conf.NextProtos = []string{wanted}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := tls.Client(nc, conf)
		err = c.HandshakeContext(ctx)
		if err == nil && l.HTTP2 && c.ConnectionState().NegotiatedProtocol != alpnHTTP2 {
			err = errors.New("the server does not speak HTTP/2")
		}
		if err != nil {
			_ = nc.Close()
		}
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, ctx.Err() // too late, whatever else
		case err != nil:
			return nil, handshakeError{err}
		case l.HTTP2:
			return c, nil
		default:
			return secureConn{c}, nil
		}
	}, nil
}

func tlsConfig(t experiment.TLS, target string) (*tls.Config, error) {
	name := t.ServerName
	if name == "" {
		host, _, err := net.SplitHostPort(target)
		if err != nil {
			return nil, err
		}
		name = host
	}
	conf := &tls.Config{ServerName: name, InsecureSkipVerify: t.SkipVerify}
	if t.CA != "" {
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM([]byte(t.CA)) {
			return nil, errors.New("ca holds no certificate")
		}
	}
	return conf, nil
}

// secureConn closes without taking leave: for that it would wait for up to 5 s where the
// server does not read.
type secureConn struct{ *tls.Conn }

func (c secureConn) Close() error { return c.NetConn().Close() }
