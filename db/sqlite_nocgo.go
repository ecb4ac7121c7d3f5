//go:build !cgo

package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// connector refuses: SQLite is C. The rest of the package compiles, so that the
// user reads one sentence instead of the compiler's complaints.
type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) { return connector{}.Open("") }
func (c connector) Driver() driver.Driver                      { return c }

func (connector) Open(string) (driver.Conn, error) {
	return nil, experiment.WithHint(fmt.Errorf("this ceteris was built without cgo, which SQLite needs: %w", experiment.ErrCannotRun),
		"install a C compiler (Debian: apt-get install gcc libc6-dev) and build again with CGO_ENABLED=1")
}

func pool(string, string, bool, ...SQLFunc) *sql.DB { return newPool(connector{}) }

func faultOf(error) fault { return faultOther }
