import type { Seq } from '../value/id.ts'

/** One change of one path. A moved file is two: it left one path and came to another. */
export type MoveStep = {
  /** The record that has it. The changes of one record happen at once. */
  readonly seq: Seq
  /** The call that did it; null for a restore by a person. */
  readonly call: number | null
  /** The path in the workdir. */
  readonly path: string
  /** The path that the file came from, if it was moved here. */
  readonly movedFrom?: string | undefined
  /** What was there before; null if that is not known. */
  readonly before: { readonly type: string } | null
  /** What is there after it; null if that is not known. */
  readonly after: { readonly type: string } | null
}

/**
 * Returns where files came from that are now at another path than before the first step: by new path, the old one. Takes
 * the steps oldest first. A file that was moved there and back is not among them, nor one that was deleted since.
 */
export function traceMoves(steps: readonly MoveStep[]): ReadonlyMap<string, string> {
  if (!steps.some(({ movedFrom }) => movedFrom !== undefined)) return new Map()
  const origins = new Map<string, Origin>()
  const existed = new Map<string, boolean>()
  for (const record of Map.groupBy(steps, ({ seq }) => seq).values()) {
    for (const { path, before } of record) if (!existed.has(path)) existed.set(path, before?.type !== 'absent')
    const left = new Set(record.flatMap(({ movedFrom }) => movedFrom ?? []))
    const changed = record.flatMap((step) => {
      const now = originAfter(step, origins, left)
      return now === undefined ? [] : [[step.path, now] as const]
    })
    for (const path of left) origins.set(path, { now: null, last: originAt(origins, path).last })
    for (const [path, now] of changed) origins.set(path, { now, last: now ?? originAt(origins, path).last })
  }
  const moved = new Map<string, string>()
  for (const [path, { now }] of origins)
    if (now !== null && now !== path && existed.get(now) !== false) moved.set(path, now)
  return moved
}

/** Where the file at a path was at first: `now` is null if there is none, or it is new; `last` is what it was until then. */
type Origin = { readonly now: string | null; readonly last: string }

const originAt = (origins: ReadonlyMap<string, Origin>, path: string): Origin =>
  origins.get(path) ?? { now: path, last: path }

/** Returns where the file at the path of a step was at first; undefined if the step does not change that. */
function originAfter(
  { path, call, movedFrom, before, after }: MoveStep,
  origins: ReadonlyMap<string, Origin>,
  left: ReadonlySet<string>,
): string | null | undefined {
  if (movedFrom !== undefined) return originAt(origins, movedFrom).now
  if (after?.type === 'absent') return null
  if (call !== null) return before?.type === 'absent' ? null : undefined
  // A restore brings back the file that was there.
  const { now, last } = originAt(origins, path)
  return left.has(path) ? path : (now ?? last)
}

/**
 * Returns the paths that moves connect, as one list for each file or chain of files. They are restored together: one of
 * them alone would lose the file.
 */
export function linkMoves(steps: readonly Pick<MoveStep, 'path' | 'movedFrom'>[]): readonly (readonly string[])[] {
  const places = new Map<string, Place>()
  const placeOf = (path: string): Place => {
    const known = places.get(path)
    if (known) return known
    const place: Place = { path, group: null, next: null, last: null }
    places.set(path, place)
    return place
  }
  for (const { path, movedFrom } of steps) {
    if (movedFrom === undefined) continue
    const [from, to] = [firstOf(placeOf(movedFrom)), firstOf(placeOf(path))]
    if (from === to) continue
    // The list of the one continues with that of the other: each path is touched once, however long a chain is.
    const end = from.last ?? from
    end.next = to
    from.last = to.last ?? to
    to.group = from
  }
  return [...new Set(Array.from(places.values(), firstOf))].map((first) => [...pathsFrom(first)])
}

/** A path in the list of its group. */
type Place = {
  readonly path: string
  /** A place nearer to the first one of the list; null for that one. */
  group: Place | null
  next: Place | null
  /** The end of the list, if this is its first place and not its only one. */
  last: Place | null
}

/** Returns the first place of a list, and makes the way to it shorter for the next time. */
function firstOf(place: Place): Place {
  let first = place
  while (first.group) first = first.group
  for (let one = place; one.group; ) {
    const { group } = one
    one.group = first
    one = group
  }
  return first
}

function* pathsFrom(first: Place): Generator<string> {
  for (let place: Place | null = first; place; place = place.next) yield place.path
}
