// Package schema holds the published JSON Schemas of what loadgen writes, so that the program can print them.
package schema

import "embed"

// Files holds one schema in a file, such as "run.json".
//
//go:embed *.json
var Files embed.FS
