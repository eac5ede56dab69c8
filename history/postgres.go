package history

import (
	"fmt"
	"net"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// migrationLock is the key of the advisory lock that keeps two processes from making the tables at once.
const migrationLock = "SELECT pg_advisory_xact_lock(4838265092)"

func openPostgres(address string) (*Store, error) {
	config, err := parsePostgres(address)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(4)
	name := fmt.Sprintf("postgres://%s:%d/%s", config.Host, config.Port, config.Database)
	return &Store{db: db, name: name, base: dialect{numbered: true, lock: migrationLock}}, nil
}

// parsePostgres reads the URL of a database. Away from this machine the server must prove who it is, unless the URL says
// otherwise. The parsers' own errors would show a password, so they are not passed on.
func parsePostgres(address string) (*pgx.ConnConfig, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no URL", ErrAddress)
	}
	query := u.Query()
	if !query.Has("sslmode") && !isLocal(u, query) {
		query.Set("sslmode", "verify-full")
		u.RawQuery = query.Encode()
	}
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %s is not one that the PostgreSQL driver understands", ErrAddress, withoutQuery(u))
	}
	return config, nil
}

// isLocal says whether the server is on this machine: a loopback address, or the folder of a socket.
func isLocal(u *url.URL, query url.Values) bool {
	host := u.Hostname()
	if query.Has("host") {
		host = query.Get("host")
	}
	if host == "" || host == "localhost" || host[0] == '/' {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// withoutQuery is the URL without password and parameters, which may hold one.
func withoutQuery(u *url.URL) string {
	bare := *u
	bare.RawQuery = ""
	return bare.Redacted()
}
