import numpy as np
t = np.arange(4) / 100
markers = np.arange(24, dtype=np.float64).reshape(4, 2, 3) / 7
np.savez("run.npz", t=t, markers=markers, fortran=np.asfortranarray(markers[:, 0, :]),
         single=t.astype(np.float32), half=t.astype(np.float16), count=np.array([-1, 2, 3, 127], np.int8),
         big=np.array([1, 2, 3, 65535], ">u2"), flag=np.array([True, False, True, True]),
         gap=np.array([0, np.nan, 2, 3]), fps=np.float64(100), remark=np.array(["a", "b", "c", "d"]),
         wild=np.array([1, 2, np.inf, 4]))
np.savez_compressed("run_compressed.npz", t=t, markers=markers)
np.savez("unequal.npz", t=t, short=t[:2])
np.save("markers.npy", markers)
