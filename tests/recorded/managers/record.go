// Records what the CPU, memory and topology managers of the reference decide on random machines for random pods.
// README.md says how it is run. One JSON object on each line of the output: the machine, the settings, the steps and their results.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	cadvisor "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	_ "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	cpustate "k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	memstate "k8s.io/kubernetes/pkg/kubelet/cm/memorymanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/cpuset"
)

const mib = 1024 * 1024

type core struct {
	Socket  int
	Threads []int
	Uncore  *int
}

// SOCKET:CPU,CPU or SOCKET:CPU,CPU:CACHE
func (c core) MarshalJSON() ([]byte, error) {
	threads := []string{}
	for _, t := range c.Threads {
		threads = append(threads, strconv.Itoa(t))
	}
	text := fmt.Sprintf("%d:%s", c.Socket, strings.Join(threads, ","))
	if c.Uncore != nil {
		text += fmt.Sprintf(":%d", *c.Uncore)
	}
	return json.Marshal(text)
}

type node struct {
	ID        int      `json:"id"`
	MemoryMiB uint64   `json:"m"`
	HugePages uint64   `json:"h,omitempty"`
	Distances []uint64 `json:"d"`
	Cores     []core   `json:"c"`
}

type container struct {
	Name    string `json:"n"`
	Milli   int64  `json:"c,omitempty"`
	Memory  int64  `json:"m,omitempty"`
	Huge    int64  `json:"h,omitempty"`
	Sidecar bool   `json:"s,omitempty"`
}

type pod struct {
	UID   string      `json:"uid"`
	Init  []container `json:"i,omitempty"`
	Main  []container `json:"c"`
	Total *container  `json:"p,omitempty"`
	// Memory has no limit: burstable.
	Burstable bool `json:"b,omitempty"`
}

type step struct {
	Add    *pod   `json:"add,omitempty"`
	Remove string `json:"rm,omitempty"`
	// What came of it.
	Reason  string                  `json:"reason,omitempty"`
	Message string                  `json:"msg,omitempty"`
	Shared  string                  `json:"shared"`
	CPUs    map[string]string       `json:"cpus,omitempty"`
	Memory  map[string][]memoryPart `json:"mem,omitempty"`
	// Free bytes of memory on each node in MiB.
	Free map[string]uint64 `json:"free"`
}

type memoryPart struct {
	Nodes []int  `json:"n"`
	Type  string `json:"t"`
	Size  uint64 `json:"s"`
}

type scenario struct {
	Nodes         []node            `json:"nodes"`
	CPUOptions    map[string]string `json:"cpuOptions"`
	Reserved      string            `json:"reserved,omitempty"`
	ReservedCount int               `json:"reservedCount"`
	ReservedMiB   map[string]uint64 `json:"reservedMiB"`
	Policy        string            `json:"policy"`
	Scope         string            `json:"scope"`
	Options       map[string]string `json:"options"`
	PodLevel      bool              `json:"podLevel,omitempty"`
	Refused       string            `json:"refused,omitempty"`
	Steps         []step            `json:"steps,omitempty"`
	CPUFile       string            `json:"cpuFile,omitempty"`
	MemoryFile    string            `json:"memoryFile,omitempty"`
}

type hint struct {
	// Nil: any node.
	Mask      []int `json:"m"`
	Preferred bool  `json:"p,omitempty"`
}

type merging struct {
	Nodes     int               `json:"nodes"`
	Distances [][]uint64        `json:"d"`
	Policy    string            `json:"policy"`
	Options   map[string]string `json:"options"`
	Hints     [][]hint          `json:"hints"`
	Best      hint              `json:"best"`
	Admit     bool              `json:"admit"`
}

type provider struct {
	hints    func(*v1.Pod, *v1.Container) map[string][]topologymanager.TopologyHint
	podHints func(*v1.Pod) map[string][]topologymanager.TopologyHint
	allocate func(*v1.Pod, *v1.Container) error
	allPod   func(*v1.Pod) error
}

func (p provider) GetTopologyHints(a *v1.Pod, c *v1.Container) map[string][]topologymanager.TopologyHint {
	return p.hints(a, c)
}
func (p provider) GetPodTopologyHints(a *v1.Pod) map[string][]topologymanager.TopologyHint {
	return p.podHints(a)
}
func (p provider) Allocate(a *v1.Pod, c *v1.Container) error { return p.allocate(a, c) }
func (p provider) AllocatePod(a *v1.Pod) error               { return p.allPod(a) }

func pick[T any](r *rand.Rand, values ...T) T { return values[r.Intn(len(values))] }

// Sockets, memory nodes, cores, threads and caches in the arrangements that machines have.
func randomMachine(r *rand.Rand) []node {
	sockets := pick(r, 1, 1, 2, 2, 4)
	perSocket := pick(r, 1, 1, 2, 4)
	for sockets*perSocket > 8 {
		perSocket /= 2
	}
	socketsPerNode := 1
	if sockets > 1 && perSocket == 1 && r.Intn(5) == 0 {
		socketsPerNode = 2
	}
	count := sockets * perSocket / socketsPerNode
	coresPerNode := pick(r, 1, 2, 3, 4, 6, 8) * socketsPerNode
	threads := pick(r, 1, 2, 2, 2, 4)
	numbering := r.Intn(3)
	uncoreSize := pick(r, 0, 0, 1, 2, 3, 4)
	total := count * coresPerNode
	nodes := []node{}
	uncore := 0
	for id := 0; id < count; id++ {
		one := node{ID: id, MemoryMiB: uint64(pick(r, 2048, 4096, 4096, 8192)), Cores: []core{}}
		if r.Intn(3) > 0 {
			one.HugePages = uint64(pick(r, 64, 256))
		}
		for other := 0; other < count; other++ {
			switch {
			case other == id:
				one.Distances = append(one.Distances, 10)
			case other/2 == id/2:
				one.Distances = append(one.Distances, uint64(pick(r, 11, 12)))
			default:
				one.Distances = append(one.Distances, uint64(pick(r, 20, 21, 32)))
			}
		}
		for c := 0; c < coresPerNode; c++ {
			socket := id / perSocket
			if socketsPerNode == 2 {
				socket = id*2 + c*2/coresPerNode
			}
			index := id*coresPerNode + c
			if numbering == 2 {
				index = c*count + id
			}
			made := core{Socket: socket}
			for t := 0; t < threads; t++ {
				if numbering == 0 {
					made.Threads = append(made.Threads, index*threads+t)
				} else {
					made.Threads = append(made.Threads, t*total+index)
				}
			}
			if uncoreSize > 0 {
				if c%uncoreSize == 0 {
					uncore++
				}
				shared := uncore
				made.Uncore = &shared
			}
			one.Cores = append(one.Cores, made)
		}
		nodes = append(nodes, one)
	}
	if r.Intn(10) == 0 { // A processor that is switched off.
		last := &nodes[len(nodes)-1]
		c := &last.Cores[len(last.Cores)-1]
		if len(c.Threads) > 1 {
			c.Threads = c.Threads[:1]
		} else if len(last.Cores) > 1 {
			last.Cores = last.Cores[:len(last.Cores)-1]
		}
	}
	if count < 8 && r.Intn(10) == 0 { // Memory without processors.
		extra := node{ID: count, MemoryMiB: 4096, Cores: []core{}, Distances: []uint64{}}
		for other := 0; other < count; other++ {
			extra.Distances = append(extra.Distances, 40)
			nodes[other].Distances = append(nodes[other].Distances, 40)
		}
		extra.Distances = append(extra.Distances, 10)
		nodes = append(nodes, extra)
	}
	return nodes
}

func machineInfo(nodes []node) *cadvisor.MachineInfo {
	info := &cadvisor.MachineInfo{}
	sockets := map[int]bool{}
	for _, n := range nodes {
		made := cadvisor.Node{Id: n.ID, Memory: n.MemoryMiB * mib, Distances: n.Distances}
		made.HugePages = []cadvisor.HugePagesInfo{{PageSize: 2048, NumPages: n.HugePages}}
		for _, c := range n.Cores {
			one := cadvisor.Core{Id: c.Threads[0], SocketID: c.Socket, Threads: c.Threads}
			if c.Uncore != nil {
				one.UncoreCaches = []cadvisor.Cache{{Id: *c.Uncore, Level: 3}}
			}
			made.Cores = append(made.Cores, one)
			info.NumCores += len(c.Threads)
			sockets[c.Socket] = true
		}
		info.Topology = append(info.Topology, made)
	}
	info.NumSockets = len(sockets)
	return info
}

func resources(c container, burstable bool) v1.ResourceRequirements {
	list := v1.ResourceList{}
	if c.Milli > 0 {
		list[v1.ResourceCPU] = *resource.NewMilliQuantity(c.Milli, resource.DecimalSI)
	}
	if c.Memory > 0 {
		list[v1.ResourceMemory] = *resource.NewQuantity(c.Memory*mib, resource.BinarySI)
	}
	if c.Huge > 0 {
		list["hugepages-2Mi"] = *resource.NewQuantity(c.Huge*mib, resource.BinarySI)
	}
	if burstable {
		return v1.ResourceRequirements{Requests: list}
	}
	return v1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
}

func toPod(p pod) *v1.Pod {
	made := &v1.Pod{}
	made.UID = types.UID(p.UID)
	made.Name = p.UID
	for _, c := range p.Init {
		one := v1.Container{Name: c.Name, Resources: resources(c, p.Burstable)}
		if c.Sidecar {
			always := v1.ContainerRestartPolicyAlways
			one.RestartPolicy = &always
		}
		made.Spec.InitContainers = append(made.Spec.InitContainers, one)
	}
	for _, c := range p.Main {
		made.Spec.Containers = append(made.Spec.Containers, v1.Container{Name: c.Name, Resources: resources(c, p.Burstable)})
	}
	if p.Total != nil {
		total := resources(*p.Total, false)
		made.Spec.Resources = &total
	}
	return made
}

func randomPod(r *rand.Rand, uid string, cpus int, podLevel bool) pod {
	p := pod{UID: uid, Burstable: r.Intn(10) == 0}
	largest := cpus/2 + 1
	make := func(name string, sidecar bool) container {
		milli := int64(1+r.Intn(largest)) * 1000
		if r.Intn(8) == 0 {
			milli -= 500
		}
		c := container{Name: name, Milli: milli, Memory: int64(pick(r, 64, 512, 512, 1024, 3000)), Sidecar: sidecar}
		if r.Intn(6) == 0 {
			c.Huge = int64(pick(r, 64, 128))
		}
		return c
	}
	for i := r.Intn(3); i > 0 && r.Intn(2) == 0; i-- {
		p.Init = append(p.Init, make("i"+strconv.Itoa(i), r.Intn(3) == 0))
	}
	for i := 1 + r.Intn(2)*r.Intn(2); i > 0; i-- {
		p.Main = append(p.Main, make("c"+strconv.Itoa(i), false))
	}
	if podLevel && r.Intn(3) > 0 {
		p.Burstable = false
		for i := range p.Main {
			if r.Intn(2) == 0 {
				p.Main[i] = container{Name: p.Main[i].Name}
			}
		}
		for i := range p.Init {
			if r.Intn(3) == 0 {
				p.Init[i] = container{Name: p.Init[i].Name, Sidecar: p.Init[i].Sidecar}
			}
		}
		total := container{}
		running := container{}
		for _, c := range p.Init {
			if c.Sidecar {
				running.Milli += c.Milli
				running.Memory += c.Memory
				running.Huge += c.Huge
			} else {
				total.Milli = max(total.Milli, running.Milli+c.Milli)
				total.Memory = max(total.Memory, running.Memory+c.Memory)
				total.Huge = max(total.Huge, running.Huge+c.Huge)
			}
		}
		for _, c := range p.Main {
			running.Milli += c.Milli
			running.Memory += c.Memory
			running.Huge += c.Huge
		}
		total.Milli = max(total.Milli, running.Milli) + int64(pick(r, 0, 1000, 1000, 2000))
		total.Memory = max(total.Memory, running.Memory) + int64(pick(r, 0, 256))
		total.Huge = max(total.Huge, running.Huge)
		if total.Milli == 0 {
			total.Milli = 1000
		}
		if total.Memory == 0 {
			total.Memory = 256
		}
		p.Total = &total
	}
	return p
}

func randomOptions(r *rand.Rand) map[string]string {
	options := map[string]string{}
	switch r.Intn(8) {
	case 0:
		options["full-pcpus-only"] = "true"
	case 1:
		options["distribute-cpus-across-numa"] = "true"
	case 2:
		options["distribute-cpus-across-numa"] = "true"
		options["full-pcpus-only"] = "true"
	case 3:
		options["align-by-socket"] = "true"
	case 4:
		options["distribute-cpus-across-cores"] = "true"
	case 5:
		options["prefer-align-cpus-by-uncorecache"] = "true"
	case 6:
		options["prefer-align-cpus-by-uncorecache"] = "true"
		options["full-pcpus-only"] = "true"
	}
	if r.Intn(4) == 0 {
		options["strict-cpu-reservation"] = "true"
	}
	return options
}

func runScenario(r *rand.Rand, podLevel, keepFiles bool) scenario {
	s := scenario{Nodes: randomMachine(r), CPUOptions: randomOptions(r), PodLevel: podLevel, ReservedMiB: map[string]uint64{}, Options: map[string]string{}}
	s.Policy = pick(r, "none", "best-effort", "restricted", "single-numa-node")
	s.Scope = pick(r, "container", "pod")
	if s.Policy != "none" && r.Intn(3) == 0 {
		s.Options["prefer-closest-numa-nodes"] = "true"
	}
	info := machineInfo(s.Nodes)
	logger := logr.Discard()
	s.ReservedCount = 1 + r.Intn(2)
	reserved := cpuset.New()
	if r.Intn(3) == 0 {
		all := []int{}
		for _, n := range s.Nodes {
			for _, c := range n.Cores {
				all = append(all, c.Threads...)
			}
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		reserved = cpuset.New(all[:min(s.ReservedCount, len(all))]...)
		s.Reserved = reserved.String()
		s.ReservedCount = reserved.Size()
	}
	systemReserved := map[int]map[v1.ResourceName]uint64{}
	for _, n := range s.Nodes {
		systemReserved[n.ID] = map[v1.ResourceName]uint64{}
		if n.ID == 0 || r.Intn(2) == 0 {
			systemReserved[n.ID][v1.ResourceMemory] = 100 * mib
			s.ReservedMiB[strconv.Itoa(n.ID)] = 100
		}
	}
	topo, err := topology.Discover(logger, info)
	if err != nil {
		panic(err)
	}
	manager, err := topologymanager.NewManager(info.Topology, s.Policy, s.Scope, s.Options)
	if err != nil {
		s.Refused = err.Error()
		return s
	}
	cpu, err := cpumanager.NewStaticPolicy(logger, topo, s.ReservedCount, reserved, manager, s.CPUOptions)
	if err != nil {
		s.Refused = err.Error()
		return s
	}
	memory, err := memorymanager.NewPolicyStatic(logger, info, systemReserved, manager)
	if err != nil {
		panic(err)
	}
	directory, err := os.MkdirTemp("", "record")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	cpus, err := cpustate.NewCheckpointState(logger, directory, "cpu_manager_state", cpu.Name(), containermap.NewContainerMap())
	if err != nil {
		panic(err)
	}
	mems, err := memstate.NewCheckpointState(logger, directory, "memory_manager_state", memory.Name())
	if err != nil {
		panic(err)
	}
	if err := cpu.Start(logger, cpus); err != nil {
		panic(err)
	}
	if err := memory.Start(logger, mems); err != nil {
		panic(err)
	}
	manager.AddHintProvider(logger, provider{
		hints: func(p *v1.Pod, c *v1.Container) map[string][]topologymanager.TopologyHint {
			return cpu.GetTopologyHints(logger, cpus, p, c)
		},
		podHints: func(p *v1.Pod) map[string][]topologymanager.TopologyHint { return cpu.GetPodTopologyHints(logger, cpus, p) },
		allocate: func(p *v1.Pod, c *v1.Container) error { return cpu.Allocate(logger, cpus, p, c) },
		allPod:   func(p *v1.Pod) error { return cpu.AllocatePod(logger, cpus, p) },
	})
	manager.AddHintProvider(logger, provider{
		hints: func(p *v1.Pod, c *v1.Container) map[string][]topologymanager.TopologyHint {
			return memory.GetTopologyHints(logger, mems, p, c)
		},
		podHints: func(p *v1.Pod) map[string][]topologymanager.TopologyHint {
			return memory.GetPodTopologyHints(logger, mems, p)
		},
		allocate: func(p *v1.Pod, c *v1.Container) error { return memory.Allocate(logger, mems, p, c) },
		allPod:   func(p *v1.Pod) error { return memory.AllocatePod(logger, mems, p) },
	})
	release := func(p pod) {
		for _, c := range append(append([]container{}, p.Init...), p.Main...) {
			_ = cpu.RemoveContainer(logger, cpus, p.UID, c.Name)
			memory.RemoveContainer(logger, mems, p.UID, c.Name)
		}
	}
	running := []pod{}
	for i := 0; i < 4+r.Intn(6); i++ {
		one := step{}
		if len(running) > 0 && r.Intn(4) == 0 {
			index := r.Intn(len(running))
			one.Remove = running[index].UID
			release(running[index])
			running = append(running[:index], running[index+1:]...)
		} else {
			p := randomPod(r, "p"+strconv.Itoa(i), info.NumCores, podLevel)
			one.Add = &p
			made := toPod(p)
			result := manager.Admit(&lifecycle.PodAdmitAttributes{Pod: made})
			if result.Admit {
				running = append(running, p)
				one.CPUs = map[string]string{}
				one.Memory = map[string][]memoryPart{}
				for name, set := range cpus.GetCPUAssignments()[p.UID] {
					one.CPUs[name] = set.String()
				}
				for name, blocks := range mems.GetMemoryAssignments()[p.UID] {
					parts := []memoryPart{}
					for _, b := range blocks {
						parts = append(parts, memoryPart{b.NUMAAffinity, string(b.Type), b.Size / mib})
					}
					sort.Slice(parts, func(i, j int) bool { return parts[i].Type < parts[j].Type })
					one.Memory[name] = parts
				}
			} else {
				one.Reason, one.Message = result.Reason, result.Message
				release(p)
			}
		}
		one.Shared = cpus.GetDefaultCPUSet().String()
		one.Free = map[string]uint64{}
		for id, n := range mems.GetMachineState() {
			one.Free[strconv.Itoa(id)] = n.MemoryMap[v1.ResourceMemory].Free / mib
		}
		s.Steps = append(s.Steps, one)
	}
	if keepFiles {
		s.CPUFile = read(filepath.Join(directory, "cpu_manager_state"))
		s.MemoryFile = read(filepath.Join(directory, "memory_manager_state"))
	}
	return s
}

func read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func runMerging(r *rand.Rand) merging {
	m := merging{Nodes: 1 + r.Intn(4), Options: map[string]string{}, Policy: pick(r, "best-effort", "restricted", "single-numa-node")}
	if r.Intn(2) == 0 {
		m.Options["prefer-closest-numa-nodes"] = "true"
	}
	topo := []cadvisor.Node{}
	for id := 0; id < m.Nodes; id++ {
		distances := []uint64{}
		for other := 0; other < m.Nodes; other++ {
			if other == id {
				distances = append(distances, 10)
			} else {
				distances = append(distances, uint64(pick(r, 11, 12, 21, 31)))
			}
		}
		topo = append(topo, cadvisor.Node{Id: id, Distances: distances})
		m.Distances = append(m.Distances, distances)
	}
	manager, err := topologymanager.NewManager(topo, m.Policy, "container", m.Options)
	if err != nil {
		panic(err)
	}
	given := []map[string][]topologymanager.TopologyHint{}
	for i := r.Intn(5); i >= 0; i-- {
		hints := []hint{}
		if r.Intn(8) == 0 {
			m.Hints = append(m.Hints, nil)
			given = append(given, nil)
			continue
		}
		own := []topologymanager.TopologyHint{}
		for j := r.Intn(6); j > 0; j-- {
			one := hint{Preferred: r.Intn(2) == 0}
			if r.Intn(10) > 0 {
				one.Mask = []int{}
				for bit := 0; bit < m.Nodes; bit++ {
					if r.Intn(2) == 0 {
						one.Mask = append(one.Mask, bit)
					}
				}
				if len(one.Mask) == 0 {
					one.Mask = []int{r.Intn(m.Nodes)}
				}
			}
			hints = append(hints, one)
			made := topologymanager.TopologyHint{Preferred: one.Preferred}
			if one.Mask != nil {
				made.NUMANodeAffinity, _ = bitmask.NewBitMask(one.Mask...)
			}
			own = append(own, made)
		}
		m.Hints = append(m.Hints, hints)
		given = append(given, map[string][]topologymanager.TopologyHint{"r": own})
	}
	best, admit := manager.GetPolicy().Merge(klog.Background(), given)
	m.Admit = admit
	m.Best = hint{Preferred: best.Preferred}
	if best.NUMANodeAffinity != nil {
		m.Best.Mask = best.NUMANodeAffinity.GetBits()
		if m.Best.Mask == nil {
			m.Best.Mask = []int{}
		}
	}
	return m
}

func write(file string, lines []any) {
	out, err := os.Create(file)
	if err != nil {
		panic(err)
	}
	defer out.Close()
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(out, string(text))
	}
}

func main() {
	klog.SetLogger(logr.Discard())
	directory := os.Args[1]
	set := func(gate string) {
		if err := utilfeature.DefaultMutableFeatureGate.Set(gate); err != nil {
			panic(err)
		}
	}
	set("CPUManagerPolicyAlphaOptions=true")
	r := rand.New(rand.NewSource(20261116))
	scenarios := []any{}
	for i := 0; i < 420; i++ {
		scenarios = append(scenarios, runScenario(r, false, i < 20))
	}
	set("PodLevelResourceManagers=true")
	for i := 0; i < 120; i++ {
		scenarios = append(scenarios, runScenario(r, true, i < 6))
	}
	write(filepath.Join(directory, "scenarios.jsonl"), scenarios)
	mergings := []any{}
	for i := 0; i < 200; i++ {
		mergings = append(mergings, runMerging(r))
	}
	write(filepath.Join(directory, "mergings.jsonl"), mergings)
}
