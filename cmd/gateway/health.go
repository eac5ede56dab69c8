package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/internal/cliargs"
)

// unhealthy is the exit code of a health check that failed.
const unhealthy = 1

// healthTime is how long a healthy gateway may take to say so.
const healthTime = 2 * time.Second

// health asks the own data port. Images from scratch have no other program that could.
func (p *program) health(c *cli.Context) error {
	if _, err := cliargs.Args(c, 0, 0); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(c.String("listen"))
	if err != nil {
		return cliargs.Errorf(cliargs.Usage, "address %q: want HOST:PORT, such as 127.0.0.1:8080", c.String("listen"))
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return ask(c.Context, "http://"+net.JoinHostPort(host, port)+"/healthz")
}

func ask(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return cliargs.Errorf(cliargs.Usage, "%w", err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return cliargs.Errorf(unhealthy, "no answer: %w", err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<10))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return cliargs.Errorf(unhealthy, "no answer: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return cliargs.Errorf(unhealthy, "%s answers %s", url, res.Status)
	}
	return nil
}
