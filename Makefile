# The one front door. Each target installs what it needs by package name and is quick when nothing is missing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
NODE  := node_modules/.bin/node --disable-warning=ExperimentalWarning
READY := node_modules/.ready
APT   := apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends

PROGRAMS := debian-containerd debian-containerd-shim-runc-v2 debian-ctr debian-runc cni-plugins docker-registry busybox catatonit iptables prometheus promtool chromium \
  containerd containerd-shim-runc-v2 ctr runc kubelet-reference sample-device-plugin
CLUSTER_PROGRAMS := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kubeadm debian-kubectl metrics-server agnhost ginkgo e2e.test nginx

.PHONY: help programs build run test test-long test-unit lint format bench conformance recorded soak scraped runtimes certificates pressure repeated dist deb clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

# npm brings the pinned Node, so the machine's own version does not matter; a machine without npm gets Debian's.
# The pinned Node needs libatomic, which a minimal Debian lacks.
# Not `npm ci`: it refuses a registry that lacks the builds of a tool for other systems, which we never need.
$(READY): package.json package-lock.json .npmrc
	@command -v npm >/dev/null || { $(APT) npm; }
	@ldconfig -p | grep -q libatomic.so.1 || { $(APT) libatomic1; }
	npm install --no-save --no-fund --no-audit --loglevel=error
	@touch $@

build: $(READY) ## dist/kubelet: a launcher over one bundled file
	@$(NODE) tools/build.ts

run: build ## a node on this machine with a demo pod; Ctrl-C takes it all away
	@exec $(NODE) tools/run/main.ts $(ARGS)

# Before the tests, so that no test's time limit has to hold a build of ten minutes on a new machine. A second time it only looks.
programs: $(READY) ## the programs of the lab: Debian packages, and what is built once from public Go modules
	@$(NODE) tests/lab/binaries/main.ts ensure $(PROGRAMS) $(if $(SKIP_CLUSTER),,$(CLUSTER_PROGRAMS)) > /dev/null

test: lint build programs ## every test: unit, process, lab, node, cluster, guest, and the short forms of the long runs
	@$(NODE) tools/test/main.ts $(SUITES)

# Hours: what only repeats what a shorter form in `make test` does, or needs no repeating at every change.
test-long: $(READY) ## the long runs one after the other: recorded, conformance, conformance SUITE=node, soak, scraped, runtimes, certificates, pressure, repeated (ONLY=soak runs one)
	@$(NODE) tools/test/long.ts $(ONLY)

test-unit: $(READY) ## the fast part: rules and parts beside their code
	@$(NODE) tools/test/main.ts unit

lint: $(READY) ## formatting, lint rules, types, import directions, supervised loops, generated code and tables up to date
	@node_modules/.bin/biome check --error-on-warnings .
	@node_modules/.bin/tsc --noEmit
	@node_modules/.bin/tsc -p ui
	@$(NODE) tools/check-imports.ts
	@$(NODE) tools/import-graph.ts --check
	@$(NODE) tools/check-shape.ts
	@$(NODE) tools/check-loops.ts
	@$(NODE) tools/generate-wire.ts --check
	@$(NODE) tools/generate-settings-docs.ts --check

format: $(READY) ## mend what the lint tool can mend by itself
	@node_modules/.bin/biome check --write .

bench: build ## ours beside the reference kubelet, as ratios (ONLY=start runs one measure)
	@$(NODE) bench/main.ts $(if $(ONLY),--only $(ONLY))

conformance: build ## the upstream e2e suite, or with SUITE=node the node suite (FOCUS= SKIP= KUBELET=reference PROCS= SET=)
	@FOCUS='$(FOCUS)' SKIP='$(SKIP)' KUBELET='$(KUBELET)' PROCS='$(PROCS)' SET='$(SET)' FLAGS='$(FLAGS)' \
	  $(NODE) tests/conformance/$(if $(SUITE),$(SUITE)/)main.ts

recorded: build ## the recorded lives of 60 pods, lived again under our kubelet and compared: as static pods, and in a cluster
	@$(NODE) tests/recorded/main.ts $(LIVES)
	@$(NODE) tests/recorded/main.ts --cluster $(LIVES)

soak: build ## the long runs: churn, hundreds of kills, no control plane for ten minutes (MINUTES= SEED=)
	@$(NODE) tests/soak/main.ts $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

scraped: build ## Prometheus scrapes a node for five minutes, and a hundred pods come and go ten times with nothing left
	@LONG=1 $(NODE) --test --test-force-exit --test-concurrency=1 tests/node/prometheus.test.ts tests/node/leaks.test.ts

runtimes: build ## the tests of `make test` that run on one release of containerd, on both
	@LONG=1 $(NODE) --test --test-force-exit --test-concurrency=2 $$(grep -lw RUNTIMES tests/node/*.test.ts tests/lab/*.test.ts)

certificates: build ## both certificates of a node are renewed five times under 200 requests a second and 20 open sessions
	@LONG=1 $(NODE) --test --test-force-exit --test-concurrency=1 tests/cluster/certificates.test.ts

pressure: build ## every signal of eviction driven over its threshold on a real node, and back
	@LONG=1 $(NODE) --test --test-force-exit --test-concurrency=1 tests/cluster/eviction-signals.test.ts tests/lab/guest/memory-signal-main.ts

repeated: build ## tests in a cluster with more of the same: a twin of the reference, copies of 200 MB, a hundred pods on one config map
	@LONG=1 $(NODE) --test --test-force-exit --test-concurrency=1 tests/cluster/node.test.ts tests/cluster/kubectl.test.ts tests/cluster/volumes.test.ts

dist: build ## a release directory: one executable file, systemd unit, sample config, checksums
	@$(NODE) tools/dist.ts

deb: $(READY) ## a Debian package: the same executable, unit, sample config, drop-in for kubeadm, manual page, completion
	@$(NODE) tools/deb.ts

clean: ## what the build made (caches outside the work tree stay)
	rm -rf dist build bench/results
