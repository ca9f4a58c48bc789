package seams

import (
	"syscall"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// worldVerbs are events on the machines.
var worldVerbs = []verb{
	{
		name: "kill-worker", sentence: "The worker is killed", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough && v.worker, 5) },
		act:    (*Play).killWorker,
	},
	{
		name: "stop-worker", sentence: "The worker is told to stop", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough && v.worker && !v.deaf, 3) },
		act:    (*Play).stopWorker,
	},
	{
		name: "start-worker", sentence: "A worker starts", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough && !v.worker, 25) },
		act: func(p *Play, _ *playTask, _ int) {
			if p.w.worker == nil {
				p.w.startWorker()
			}
		},
	},
	{
		name: "kill-server", sentence: "The server is killed and starts again", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough, 5) },
		act:    func(p *Play, _ *playTask, _ int) { p.w.restartServer((*process.Child).Kill) },
	},
	{
		name: "restart-server", sentence: "The server is told to stop and starts again", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough, 3) },
		act:    func(p *Play, _ *playTask, _ int) { p.w.restartServer((*process.Child).Stop) },
	},
}

func (p *Play) killWorker(*playTask, int) {
	if p.w.worker == nil {
		return
	}
	p.w.disturbed.Add(1)
	p.w.worker.Kill()
	p.w.worker = nil
	p.w.workers.Add(1)
}

// stopWorker asks the worker to stop. A worker that has only just started is ended by the signal itself.
func (p *Play) stopWorker(*playTask, int) {
	if p.w.worker == nil {
		return
	}
	p.w.disturbed.Add(1)
	p.w.worker.Signal(syscall.SIGTERM)
	if !patience.Until(p.w.worker.HasEnded) {
		p.c.recordStuck("the worker does not end")
		p.w.worker.Kill()
	}
	p.w.worker = nil
	p.w.workers.Add(1)
}

// restartServer ends the server in the given way, and starts it again at the same address.
func (w *World) restartServer(end func(*process.Child)) {
	w.Helper()
	w.disturbed.Add(1)
	end(w.server.Child)
	w.serve()
	w.balancer.SetServers(w.server)
}
