package references

import "coldwave/record"

// kindCount judges how many requests that arrived in the window were served in one way.
func kindCount(v view) (string, findings) {
	n := 0
	for i := range v.Run.Records {
		if r := &v.Run.Records[i]; r.Outcome == record.OK && r.Server.Start.String() == v.Text && v.sees(r.Intended) {
			n++
		}
	}
	return v.total(v.Text, n)
}
