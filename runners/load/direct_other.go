//go:build !unix

package load

import (
	"net"
	"time"
)

// direct is not known here: requests are written and responses read in the usual order.
type direct struct{}

func newDirect(net.Conn) *direct { return nil }

func (*direct) turn(*conn, time.Time) (int, error) { panic("load: no direct connection here") }

func (*direct) send(*conn) []byte { panic("load: no direct connection here") }

func (*direct) rest(*conn, func() bool) (int, error) { panic("load: no direct connection here") }
