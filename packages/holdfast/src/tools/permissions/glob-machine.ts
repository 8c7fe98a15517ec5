import type { Work } from '../../system/work-slices.ts'

/** A step of a compiled glob. `next` and `other` are places in the list of steps. */
export type Step =
  | { readonly type: 'char'; readonly char: string }
  | { readonly type: 'set'; readonly fits: CharTest }
  | { readonly type: 'split'; next: number; other: number }
  | { readonly type: 'jump'; next: number }
  | { readonly type: 'end' }

/** Tells whether a character is in a set. Counts what it compares. */
export type CharTest = (char: string, work: Work) => boolean

/** A set of steps that a path can be at, with the known next state for each kind of character. */
type State = { readonly at: readonly number[]; readonly isEnd: boolean; readonly next: (State | undefined)[] }

/** Larger states are not cached: a lookup would take longer than following their steps. */
const stateStepsMax = 64
/** Steps and transitions in the cache of one pattern. Once it is full, new ones are followed each time. */
const cachedMax = 2000

/**
 * Returns a function that tells whether a path takes the steps from the first to the end; no set matches before the place
 * `from`. It is a nondeterministic automaton: all ways are followed at once, so that the work is at most the length of the path
 * times the number of steps. States and transitions are cached (a lazy DFA), so that most characters are one lookup.
 */
export function createMachine(steps: readonly Step[]): (path: string, from: number, work: Work) => boolean {
  const seen = new Uint32Array(steps.length)
  const stack: number[] = []
  const states = new Map<string, State>()
  const kindOf = createKinds(steps)
  let [mark, cached] = [0, 0]
  let start: State | null = null

  /** Adds a step, and those that it leads to without a character. */
  function add(to: number[], first: number, work: Work): void {
    stack.push(first)
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (seen[at] === mark) continue
      seen[at] = mark
      work.steps++
      const step = steps[at]
      if (step?.type === 'split') stack.push(step.other, step.next)
      else if (step?.type === 'jump') stack.push(step.next)
      else to.push(at)
    }
  }

  function nextMark(): void {
    if (mark === 0xffff_ffff) {
      seen.fill(0)
      mark = 0
    }
    mark++
  }

  function begin(work: Work): State {
    nextMark()
    const at: number[] = []
    add(at, 0, work)
    return stateOf(at)
  }

  function follow({ at }: State, char: string, isInSets: boolean, work: Work): State {
    nextMark()
    const following: number[] = []
    work.steps += at.length
    for (const place of at) {
      const step = steps[place]
      const fits =
        step?.type === 'char' ? step.char === char : step?.type === 'set' && isInSets && step.fits(char, work)
      if (fits) add(following, place + 1, work)
    }
    return stateOf(following)
  }

  function stateOf(at: readonly number[]): State {
    const canCache = at.length <= stateStepsMax && cached < cachedMax
    const name = canCache ? at.join(' ') : ''
    const known = canCache ? states.get(name) : undefined
    if (known) return known
    const state: State = { at, isEnd: at.includes(steps.length - 1), next: [] }
    if (canCache) {
      states.set(name, state)
      cached += at.length + 1
    }
    return state
  }

  return (path, from, work) => {
    start ??= begin(work)
    let state = start
    for (let place = 0; place < path.length && state.at.length > 0; place++) {
      const char = path[place] ?? ''
      const isInSets = place >= from
      const kind = isInSets ? kindOf(char, work) : null
      const known = kind === null ? undefined : state.next[kind]
      work.steps++
      const next = known ?? follow(state, char, isInSets, work)
      if (!known && kind !== null && cached < cachedMax) {
        state.next[kind] = next
        cached += kind + 1
      }
      state = next
    }
    return state.isEnd
  }
}

/** A pattern with more sets, and characters beyond this number, are followed step by step, without the cache. */
const setsMax = 32
const charsMax = 256

/** Returns a function that numbers the kinds of characters: those of one kind lead from any state to the same one. */
function createKinds(steps: readonly Step[]): (char: string, work: Work) => number | null {
  const literals = new Set(steps.flatMap((step) => (step.type === 'char' ? [step.char] : [])))
  const sets = [...new Set(steps.flatMap((step) => (step.type === 'set' ? [step.fits] : [])))]
  const kinds = new Map<string, number>()
  const known = new Map<string, number>()
  return (char, work) => {
    const found = known.get(char)
    if (found !== undefined) return found
    if (sets.length > setsMax || known.size >= charsMax) return null
    const name = `${literals.has(char) ? char : ''}${sets.map((fits) => Number(fits(char, work))).join('')}`
    const kind = kinds.get(name) ?? kinds.size
    kinds.set(name, kind)
    known.set(char, kind)
    return kind
  }
}
