import type { BlobHash, TrustScope } from '@holdfast/protocol'
import fc from 'fast-check'
import { hashArgs } from '../../../../packages/core/src/runtime/effects/prepare-call.ts'
import { accepted, type State, type Trusted } from '../state.ts'
import { isTrusted, progress } from '../turn-progress.ts'
import type { CommandTemplate, Family } from './family.ts'

/** Returns the hash of the arguments of a call. */
const argumentsOf = [0, 1] as const
export const hashOf = (tool: string, n: number): BlobHash => hashArgs(tool, { n })
export const argumentOf = (tool: string, hash: string | undefined): number | null =>
  hash === undefined ? null : (argumentsOf.find((n) => hashOf(tool, n) === hash) ?? -1)

/** Grants trust and approves every open call that it covers. */
export function grant(state: State, trusted: Trusted): State {
  const { tool, scope, n } = trusted
  const others = state.trust.filter((one) => one.tool !== tool || one.scope !== scope || one.n !== n)
  const granted = { ...state, trust: [...others, trusted], workspace: alsoOf(state.workspace, trusted) }
  const covered = state.turn?.calls.filter(
    (call) => call.status === 'asked' && isTrusted({ trust: [], workspace: [trusted] }, call),
  )
  return (covered ?? []).reduce<State>((now, { place }) => progress(now, place, 'approved', `trust: ${scope}`), granted)
}

const alsoOf = (workspace: readonly Trusted[], trusted: Trusted): readonly Trusted[] =>
  trusted.scope === 'workspace'
    ? [...workspace.filter(({ tool, n }) => tool !== trusted.tool || n !== trusted.n), trusted]
    : workspace

type Risky = 'touch' | 'shell'

export const setTrust = (tool: Risky, scope: TrustScope, n: number | null): CommandTemplate => ({
  code: `setTrust('${tool}', '${scope}', ${n})`,
  command: () => ({ type: 'setToolTrust', tool, scope, ...(n !== null && { argsHash: hashOf(tool, n) }) }),
})
export const revokeTrust = (tool: Risky | 'all'): CommandTemplate => ({
  code: `revokeTrust('${tool}')`,
  command: () => ({ type: 'revokeToolTrust', tool }),
})

export const trust: Family = {
  templates: [
    fc
      .tuple(
        fc.constantFrom<Risky[]>('touch', 'shell'),
        fc.constantFrom<TrustScope[]>('turn', 'session', 'workspace'),
        fc.constantFrom(null, ...argumentsOf),
      )
      .map(([tool, scope, n]) => setTrust(tool, scope, n)),
    fc.constantFrom<(Risky | 'all')[]>('touch', 'shell', 'all').map(revokeTrust),
  ],
  rules: {
    setToolTrust(state, { tool, scope, argsHash }) {
      return accepted(grant(state, { tool, scope, n: argumentOf(tool, argsHash) }))
    },
    /** Running calls continue. The next call needs an approval again. */
    revokeToolTrust(state, { tool }) {
      const left = (list: readonly Trusted[]) => list.filter((one) => tool !== 'all' && one.tool !== tool)
      return accepted({ ...state, trust: left(state.trust), workspace: left(state.workspace) })
    },
  },
}
