import type { Work } from '../../system/work-slices.ts'
import { type CharTest, createMachine, type Step } from './glob-machine.ts'

/** Tells whether a path relative to the workdir matches. */
export type PathGlob = (path: string, work?: Work) => boolean

/** Syntax of other programs that a pattern of a rule has not: without a backslash it could mean more than it says. */
const foreign = /[()|"]|\[!|[\]}]\+|\{[^{}]*\.\.[^{}]*\}/

/** Whether a pattern is that of an address, which no path matches. */
export const isAddress = (pattern: string): boolean => /^https?:/.test(pattern)

/** Returns why a pattern cannot be read as a glob; null if it can. */
export function globProblem(pattern: string): string | null {
  const found = foreign.exec(pattern.replace(/\\./gs, '_'))?.[0]
  return found === undefined
    ? null
    : `${found} has no meaning in a pattern for paths, which has *, **, ?, [a-z], [^a-z] and {a,b}. Write \\ before a character that is meant itself.`
}

/**
 * Compiles a glob: `*` and `?` within a name, `[a-z]`, `{a,b}`, and `**` for any folders, also none. Names with a dot match like
 * others, but no wildcard matches `.` or `..`. All ways to match are followed at once, so that the time is at most the length of
 * the pattern times that of the path: a regular expression would try them one after the other. Transitions
 * are cached, so that later paths take less. Returns null if it cannot be read.
 */
export function compilePathGlob(pattern: string): PathGlob | null {
  if (globProblem(pattern) !== null) return null
  const run = createMachine(stepsOf(pattern))
  const tail = /(?<![^*?[\]{}\\/])[^*?[\]{}\\/]*$/.exec(pattern)?.[0] ?? ''
  // Most paths are told apart by the plain texts of a pattern, which is many times faster.
  const texts = /[[{\\]/.test(pattern) ? [] : pattern.split(/[*?/]+/).filter((text) => text !== '')
  return (path, work = { steps: 0 }) => {
    work.steps++
    if (path === pattern) return true
    return path.endsWith(tail) && hasInOrder(texts, path) && run(path, dotsOf(path), work)
  }
}

function hasInOrder(texts: readonly string[], path: string): boolean {
  let from = 0
  for (const text of texts) {
    const at = path.indexOf(text, from)
    if (at < 0) return false
    from = at + text.length
  }
  return true
}

const isAny: CharTest = () => true
const isInName: CharTest = (char) => char !== '/'

function stepsOf(pattern: string): readonly Step[] {
  const steps: Step[] = []
  const closing = closingBraces(pattern)

  /** Adds what `add` adds, as something that may be left out. */
  const addOptional = (add: () => void): void => {
    const split = { type: 'split' as const, next: steps.length + 1, other: 0 }
    steps.push(split)
    add()
    split.other = steps.length
  }
  const addMany = (fits: CharTest): void =>
    addOptional(() => {
      const from = steps.length - 1
      steps.push({ type: 'set', fits }, { type: 'jump', next: from })
    })
  const addChar = (char: string): void => {
    steps.push({ type: 'char', char })
  }

  /** Adds the pattern from one place to another. `isLast` says that nothing follows. */
  const addAll = (from: number, to: number, startsName: boolean, isLast: boolean): void => {
    let isStart = startsName
    let isAfterStar = false
    for (let at = from; at < to; ) {
      const char = pattern[at] ?? ''
      const close = closing.get(at)
      if (char === '/' && isLast && /^\/(?:\*\*\/)*\*\*$/.test(pattern.slice(at, Math.min(to, at + 1000)))) {
        // `a/**` is also the folder itself, but `a*/**` is only what is in it.
        const addRest = () => {
          addChar('/')
          addMany(isAny)
        }
        if (isAfterStar) addRest()
        else addOptional(addRest)
        at = to
      } else if (char === '*') {
        const stars = /^\*+/.exec(pattern.slice(at, to))?.[0].length ?? 1
        const isDeep = stars > 1 && isStart
        at += stars
        if (isDeep && pattern[at] === '/' && at < to) {
          addOptional(() => {
            addMany(isAny)
            addChar('/')
          })
          at++
        } else {
          addMany(isDeep ? isAny : isInName)
          isStart = false
          isAfterStar = true
        }
      } else if (close !== undefined && close < to) {
        addChoices(at, close, isStart, isLast && close === to - 1)
        at = close + 1
        isStart = false
        isAfterStar = false
      } else {
        at += addOne(at, to)
        isStart = char === '/'
        isAfterStar = false
      }
    }
  }

  /** Adds the choices of `{a,b}`. */
  const addChoices = (open: number, close: number, isStart: boolean, isLast: boolean): void => {
    const commas = commasOf(pattern, open, close, closing)
    const ends: { type: 'jump'; next: number }[] = []
    for (const [index, end] of [...commas, close].entries()) {
      const split = { type: 'split' as const, next: steps.length + 1, other: 0 }
      if (end !== close) steps.push(split)
      addAll((commas[index - 1] ?? open) + 1, end, isStart, isLast)
      const jump = { type: 'jump' as const, next: 0 }
      ends.push(jump)
      steps.push(jump)
      split.other = steps.length
    }
    for (const jump of ends) jump.next = steps.length
  }

  /** Adds the character, the `?` or the `[a-z]` at a place. Returns its length. */
  const addOne = (at: number, to: number): number => {
    const char = pattern[at] ?? ''
    if (char === '\\' && at + 1 < to) {
      addChar(pattern[at + 1] ?? '')
      return 2
    }
    const end = char === '[' ? pattern.indexOf(']', at + 2) : -1
    if (char === '?') steps.push({ type: 'set', fits: isInName })
    else if (end < 0 || end >= to) addChar(char)
    else {
      addSet(pattern.slice(at + 1, end))
      return end + 1 - at
    }
    return 1
  }

  /** Adds `[ab]`. It is also a name with these brackets, as some programs have: `[id].ts`. */
  const addSet = (text: string): void => {
    const set: Step = { type: 'set', fits: setOf(text) }
    if (/[-*+?.^$\\]/.test(text)) {
      steps.push(set)
      return
    }
    const after = steps.length + 3
    steps.push({ type: 'split', next: steps.length + 1, other: after }, set)
    const jump = { type: 'jump' as const, next: 0 }
    steps.push(jump)
    for (const char of `[${text}]`) addChar(char)
    jump.next = steps.length
  }

  addAll(0, pattern.length, true, true)
  return [...steps, { type: 'end' }]
}

/** Returns where each `{` with a comma is closed. Braces without one, or without an end, are plain characters. */
function closingBraces(pattern: string): ReadonlyMap<number, number> {
  const closing = new Map<number, number>()
  const open: { readonly at: number; hasComma: boolean }[] = []
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (char === '{') open.push({ at, hasComma: false })
    else if (char === ',') {
      const last = open.at(-1)
      if (last) last.hasComma = true
    } else if (char === '}') {
      const last = open.pop()
      if (last?.hasComma) closing.set(last.at, at)
    }
  }
  return closing
}

/** Returns the commas that separate the choices of one pair of braces. */
function commasOf(
  pattern: string,
  open: number,
  close: number,
  closing: ReadonlyMap<number, number>,
): readonly number[] {
  const commas: number[] = []
  for (let at = open + 1; at < close; at++) {
    if (pattern[at] === '\\') at++
    else if (pattern[at] === ',') commas.push(at)
    else at = closing.get(at) ?? at
  }
  return commas
}

function setOf(text: string): CharTest {
  const isNegated = text.startsWith('^')
  const listed = (isNegated ? text.slice(1) : text).replace(/\\(.)/gs, '$1')
  const ranges = [...listed.matchAll(/(.)-(.)|(.)/gs)].map(
    ([, from, to, single]) => [from ?? single ?? '', to ?? single ?? ''] as const,
  )
  const isListed: CharTest = (char, work) => {
    work.steps += ranges.length
    return ranges.some(([from, to]) => from <= char && char <= to)
  }
  return isNegated ? (char, work) => char !== '/' && !isListed(char, work) : isListed
}

/** Where `..` and `.` end at the beginning of a path: no wildcard matches them. Paths are normalised, so there are no others. */
const dotsOf = (path: string): number => /^(?:\.\.?(?:\/|$))*/.exec(path)?.[0].length ?? 0
