package gateway

import (
	"fmt"
	"net/http"

	"coldwave/workload"
)

// check reads everything that comes before the scheduler: target, function, demand and body. A refusal leaves no state
// behind.
func (x *exchange) check() *refusal {
	l := x.g.cfg.Limits
	if len(x.r.RequestURI) > l.URLBytes {
		return &refusal{status: http.StatusRequestURITooLong, reason: ErrURLLimit, close: true,
			text: fmt.Sprintf("target of %d bytes, at most %d", len(x.r.RequestURI), l.URLBytes)}
	}
	if x.r.Method == http.MethodConnect {
		return &refusal{status: http.StatusMethodNotAllowed, reason: ErrMethod, close: true, text: "CONNECT is not served",
			allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}
	}
	if ref := x.findFunction(); ref != nil {
		return ref
	}
	if ref := x.readDemand(); ref != nil {
		return ref
	}
	return x.readBody()
}

func (x *exchange) findFunction() *refusal {
	rt, err := parseRoute(x.r.RequestURI)
	if err != nil {
		return targetRefusal(err)
	}
	if x.s = x.g.find(rt.function); x.s == nil {
		return &refusal{status: http.StatusNotFound, reason: ErrNoFunction, text: "no function answers here; the path is /fn/<name>/…"}
	}
	if _, err := rt.url("instance"); err != nil {
		return targetRefusal(err)
	}
	x.route = rt
	return nil
}

func (x *exchange) readDemand() *refusal {
	values := x.r.Header.Values(workload.DemandHeader)
	if len(values) == 0 {
		x.demand.Exec = x.s.fn.Spec.Body // what it will take, as far as is known: a simulated start-up depends on it
		return nil
	}
	if len(values) > 1 {
		return &refusal{status: http.StatusBadRequest, reason: ErrDemand, text: "more than one " + workload.DemandHeader}
	}
	d, err := workload.ParseDemand(values[0])
	if err != nil {
		return &refusal{status: http.StatusBadRequest, reason: ErrDemand, text: err.Error()}
	}
	x.demand, x.told = d, true
	return nil
}
