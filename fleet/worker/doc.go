// Package worker is what one fake worker does behind HTTP: it takes the execution time that a request asks for, keeps
// its own concurrency limit, and says in its answer what it did.
//
// Handler is the function and Server the port around it. Both know nothing of how the instance was started.
package worker
