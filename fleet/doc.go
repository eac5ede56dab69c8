// Package fleet makes and destroys workers: in this process (InProcess) or each in its own (Exec). Both implement
// gateway.Provisioner and simulate the same start-up times; API offers a fleet to schedulers in other languages.
//
// A start-up time counts from the instant of the decision, so what a start costs for real (a listener, a process) is
// part of it and never comes on top.
package fleet
