"""Dimuon mass: one analysis for the CPU, the host device and the GPU.

Events with a few muons each are Awkward records with Vector's behaviors. A
ufunc that numba has compiled corrects the muons' momenta, the two leading
muons make a pair, and the pairs' masses a histogram with the peak of the Z
boson. ``analyse`` is written once; the backend of the events decides where
it runs, and both results are compared.

Run it on a GPU, or with ``CUPY_DEVICE=host`` where there is none::

    CUPY_DEVICE=host python examples/dimuon_mass.py [events] [plot.png]
"""
from __future__ import annotations

import sys
import time
from typing import Any

import awkward as ak
import cupy as cp
import numba
import numpy as np
import vector

vector.register_awkward()

MASS_OF_Z, WIDTH_OF_Z, MASS_OF_MUON = 91.19, 2.5, 0.10566  # GeV
BINS = np.linspace(60, 120, 61)


def corrected_pt(pt: Any, eta: Any, charge: Any) -> Any:
    """Momentum of a muon, corrected for a detector that is not straight."""
    sagitta = 2e-5 * charge * (1 + 0.5 * abs(eta))
    return pt / (1 + sagitta * pt)


# One function, compiled for the backends. For 'cuda', CuPy makes a ufunc of
# it that works on CuPy's and on Awkward's arrays.
CORRECTED_PT = {
    'cpu': numba.vectorize()(corrected_pt),
    'cuda': numba.vectorize(target='cuda')(corrected_pt),
}


def analyse(muons: ak.Array) -> ak.Array:
    """Returns the mass of the pair of the two leading muons, in GeV."""
    correct = CORRECTED_PT[ak.backend(muons)]
    muons = muons[ak.num(muons) >= 2]
    first, second = muons[:, 0], muons[:, 1]
    opposite = first.charge != second.charge
    pairs = []
    for muon in first[opposite], second[opposite]:
        pt = correct(muon.pt, muon.eta, muon.charge)
        pairs.append(ak.zip(
            {'pt': pt, 'eta': muon.eta, 'phi': muon.phi, 'mass': muon.mass},
            with_name='Momentum4D'))
    return (pairs[0] + pairs[1]).mass


def simulate(n: int) -> ak.Array:
    """Returns the muons of ``n`` events, the leading ones from a Z boson."""
    rng = np.random.default_rng(9119)
    counts = rng.poisson(2.2, n)
    total = int(counts.sum())
    z = vector.array({
        'pt': rng.exponential(15, n), 'eta': rng.normal(0, 1.5, n),
        'phi': rng.uniform(-np.pi, np.pi, n),
        'mass': MASS_OF_Z + WIDTH_OF_Z / 2 * np.tan(
            np.pi * rng.uniform(-0.49, 0.49, n))})
    # The Z decays in two muons back to back in its rest frame.
    cos, phi = rng.uniform(-1, 1, n), rng.uniform(-np.pi, np.pi, n)
    sin, p = np.sqrt(1 - cos ** 2), z.mass / 2
    x, y = p * sin * np.cos(phi), p * sin * np.sin(phi)
    decay = [vector.array({'px': s * x, 'py': s * y, 'pz': s * p * cos,
                           'mass': np.full(n, MASS_OF_MUON)}).boost_p4(z)
             for s in (1, -1)]
    muons = {'pt': rng.exponential(8, total), 'eta': rng.normal(0, 1.2, total),
             'phi': rng.uniform(-np.pi, np.pi, total),
             'mass': np.full(total, MASS_OF_MUON),
             'charge': rng.choice([-1, 1], total)}
    starts = np.cumsum(counts) - counts
    for i, (muon, charge) in enumerate(zip(decay, (1, -1))):
        events = counts > i
        place = starts[events] + i
        for name in 'pt', 'eta', 'phi':
            muons[name][place] = getattr(muon, name)[events]
        muons['charge'][place] = charge
    # What the detector makes of it.
    muons['pt'] *= rng.normal(1, 0.01, total)
    muons['pt'] = corrected_pt(muons['pt'], muons['eta'], -muons['charge'])
    return ak.unflatten(ak.zip(muons, with_name='Momentum4D'), counts)


def histogram(mass: ak.Array) -> np.ndarray:
    """Counts the masses where they are; returns the counts on the host."""
    xp: Any = cp if ak.backend(mass) == 'cuda' else np
    values = ak.to_cupy(mass) if xp is cp else ak.to_numpy(mass)
    counts, _ = xp.histogram(values, xp.asarray(BINS))
    return cp.asnumpy(counts)


def timed(muons: ak.Array) -> tuple[ak.Array, float]:
    analyse(muons)  # compiles
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    mass = analyse(muons)
    cp.cuda.Device().synchronize()
    return mass, 1e3 * (time.perf_counter() - start)


def plot(counts: np.ndarray, device: str, path: str) -> None:
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6, 4))
    axes.stairs(counts, BINS, fill=True, alpha=0.6)
    axes.set(xlabel='mass of the muon pair in GeV', ylabel='pairs per GeV',
             title=f'Z → μμ, on {device}')
    figure.savefig(path, dpi=120, bbox_inches='tight')


def main(n: int, path: str) -> None:
    device = cp.cuda.runtime.getDeviceProperties(0)['name'].decode()
    events = simulate(n)
    print(f'{n:,} events, {len(ak.flatten(events)):,} muons; {device}')
    print(f'muons: {events.type}')
    masses, counts = {}, {}
    for backend in 'cpu', 'cuda':
        mass, milliseconds = timed(ak.to_backend(events, backend))
        masses[backend], counts[backend] = mass, histogram(mass)
        print(f'{backend:5}{len(mass):,} pairs in {milliseconds:.0f} ms; '
              f'{counts[backend].sum():,} in the histogram, most at '
              f'{BINS[counts[backend].argmax()]:.0f} GeV')
    assert ak.almost_equal(ak.to_backend(masses['cuda'], 'cpu'),
                           masses['cpu'], rtol=1e-9)
    assert np.abs(counts['cpu'] - counts['cuda']).sum() <= 2  # at bin edges
    print('both backends agree')
    plot(counts['cuda'], device, path)
    print(f'plot in {path}')


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000,
         sys.argv[2] if len(sys.argv) > 2 else 'dimuon_mass.png')
