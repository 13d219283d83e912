module kubelet-ts/testserver

go 1.24
