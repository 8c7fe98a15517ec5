import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Facts } from '../../session/facts.ts'
import type { SessionCommand } from '../../session/input.ts'
import type { EffectDeps } from '../dependencies.ts'

/** Reads the file of a boundary and stores its content, so that later changes by others can be compared with it. */
export async function readBounded(
  deps: EffectDeps,
  { path, end }: Extract<SessionCommand, { type: 'setBoundary' }>,
): Promise<Result<Facts>> {
  const { files, blobs, state } = deps
  const found = await files.read(state().origin?.workdir ?? '', path)
  if (!found.ok) return refuse(fault('bad_boundary', `There can be no boundary: ${found.fault.message}.`, { path }))
  const stored = await blobs.put([found.value.bytes])
  if (!stored.ok) return stored
  const { path: real, bytes } = found.value
  const linked = await findLinked(deps, real)
  return ok({ file: { path: real, content: stored.value.hash, lines: countLines(bytes, end + 1), ...linked } })
}

/** Finds the boundaries whose paths lead to a file through a link that was made since they were set. */
async function findLinked(
  { files, state }: EffectDeps,
  real: string,
): Promise<Pick<NonNullable<Facts['file']>, 'linked'>> {
  const { boundaries, origin } = state()
  const others = boundaries.map(({ path }) => path).filter((path) => path !== real)
  const found = await Promise.all(others.map((path) => files.locate(origin?.workdir ?? '', path)))
  const linked = others.filter((_, index) => {
    const one = found[index]
    return one?.ok && one.value === real
  })
  return linked.length > 0 ? { linked } : {}
}

const lineFeed = 0x0a

/** Counts the lines of a file, at most `max`. */
function countLines(bytes: Uint8Array, max: number): number {
  let count = 0
  for (let at = 0; at < bytes.length && count < max; count++) {
    const found = bytes.indexOf(lineFeed, at)
    at = found === -1 ? bytes.length : found + 1
  }
  return count
}

/** Finds the path of a file as its boundary has it. A path outside the workdir has none. */
export async function locate(deps: EffectDeps, path: string): Promise<Result<Facts>> {
  const found = await deps.files.locate(deps.state().origin?.workdir ?? '', path)
  return ok(found.ok ? { file: { path: found.value, ...(await findLinked(deps, found.value)) } } : {})
}
