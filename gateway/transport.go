package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
)

// DialFunc opens a connection to an instance.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// ErrNotAllowed refuses an address outside loopback that is not on the list (4.1).
var ErrNotAllowed = errors.New("address not allowed")

// guardedDial connects to loopback only, and to what allow lists as host:port. It looks at the resolved address, so a
// name that resolves elsewhere does not help.
func guardedDial(l Limits, allow []string) DialFunc {
	inside := &net.Dialer{Timeout: l.WorkerDial, Control: onlyLoopback}
	outside := &net.Dialer{Timeout: l.WorkerDial, Control: neverMetadata}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if slices.Contains(allow, addr) {
			return outside.DialContext(ctx, network, addr)
		}
		return inside.DialContext(ctx, network, addr)
	}
}

func onlyLoopback(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !ap.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("%s: %w: only loopback is, add it to the list if it is yours", address, ErrNotAllowed)
	}
	return nil
}

// metadataV6 is the one metadata address of clouds outside the link-local range.
var metadataV6 = netip.MustParseAddr("fd00:ec2::254")

// neverMetadata refuses link-local and metadata addresses, whatever the list says.
func neverMetadata(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if ip := ap.Addr().Unmap(); err != nil || ip.IsLinkLocalUnicast() || ip.WithZone("") == metadataV6 {
		return fmt.Errorf("%s: %w: link-local and metadata addresses never are", address, ErrNotAllowed)
	}
	return nil
}

// idlePerInstance bounds the unused connections to one instance.
const idlePerInstance = 64

// newTransport returns the transport to the instances: no proxy from the environment, no decompression, connections
// kept for less time than an instance keeps them, and every connection watched by its leg.
func newTransport(l Limits, dial DialFunc) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return newWorkerConn(c, l.Linger), nil
		},
		DisableCompression:     true,
		MaxIdleConnsPerHost:    idlePerInstance,
		IdleConnTimeout:        l.WorkerIdle,
		MaxResponseHeaderBytes: int64(l.HeaderBytes),
		ForceAttemptHTTP2:      false,
	}
}
