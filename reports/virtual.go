package reports

// exactQuantiles and bucketQuantiles say how quantiles were made.
const (
	exactQuantiles  = "exact"
	bucketQuantiles = "hdr, 3 digits"
)

// quantiles says how the quantiles of a run were made.
func quantiles(buckets bool) string {
	if buckets {
		return bucketQuantiles
	}
	return exactQuantiles
}

// virtualDriver is the name of the driver in whose time no host takes part.
const virtualDriver = "virtual"

// metaFor describes the program that made a result. What differs from host to host and from call to call is left out in
// virtual time: there equal seeds give equal documents.
func metaFor(m Meta, driver string) metaDoc {
	d := metaOf(m)
	if driver == virtualDriver {
		d.Go, d.OS, d.CPUs, d.Began = nil, nil, nil, nil
	}
	return d
}

// elapsedFor is the time that a result took on the host; nil in virtual time.
func elapsedFor(ns int64, driver string) *int64 {
	if driver == virtualDriver {
		return nil
	}
	return &ns
}

// idFor is the id of a result; none in virtual time, because it names the moment of the call.
func idFor(id, driver string) string {
	if driver == virtualDriver {
		return ""
	}
	return id
}

// bucketSentence warns that quantiles are not order statistics; empty if they are.
func bucketSentence(buckets bool) string {
	if !buckets {
		return ""
	}
	return " Quantiles: HDR, 3 digits (up to 0.1 % above the exact ones); no request was kept, so there are no waves, windows or charts of requests."
}
