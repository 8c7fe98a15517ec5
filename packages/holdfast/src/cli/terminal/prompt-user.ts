import type { Readable } from 'node:stream'
import type { Output } from './output.ts'

/** Standard input: a terminal, a pipe or a file. */
export type Input = Readable & {
  readonly isTTY?: boolean
  /** Delivers each key as it is pressed, without echo. */
  setRawMode?(isRaw: boolean): unknown
}

export type AskDeps = {
  readonly input: Input
  readonly err: Output
  /** Cancels the question. */
  readonly signal: AbortSignal
}

const typedCharsMax = 64 * 1024

/** Asks a question and returns the typed line, or null if the user cancels: Ctrl-C, or the end of the input. */
export async function askLine(question: string, { input, err, signal }: AskDeps): Promise<string | null> {
  await err.write(err.wrap(question))
  return readTyped(input, signal)
}

/**
 * Asks the same, for an answer that cannot be taken back. What was typed before the question is no answer: it is dropped, also
 * what waits for Enter, and the question waits until nobody types.
 */
export async function askFreshLine(question: string, deps: AskDeps): Promise<string | null> {
  const { input, signal } = deps
  input.setRawMode?.(true) // a terminal that is not raw keeps a line to itself until Enter
  try {
    if (!(await dropTyped(input, signal))) return null
  } finally {
    input.setRawMode?.(false)
  }
  return askLine(question, deps)
}

/** Asks for a line without echo, not even of the length. */
export async function askHidden(question: string, { input, err, signal }: AskDeps): Promise<string | null> {
  input.setRawMode?.(true) // before the question, so that keys pressed early are not shown either
  try {
    await err.write(err.wrap(question))
    return await readTyped(input, signal)
  } finally {
    input.setRawMode?.(false)
    await err.write('\n')
  }
}

/** Nobody answers a question faster: a key that comes sooner after another was meant for something else. */
const quietMs = 300

/**
 * Asks for one of some keys, without Enter. Any other key rings the bell, and Ctrl-Z stops the program until `fg`. What was typed before the question is no answer: it is
 * dropped, and the question waits until nobody types. Returns null if the question is cancelled. Ctrl-C interrupts the
 * program as it does elsewhere.
 */
export async function askKey(
  question: string,
  keys: ReadonlySet<string>,
  { input, err, signal }: AskDeps,
): Promise<string | null> {
  input.setRawMode?.(true)
  try {
    if (!(await dropTyped(input, signal))) return null
    await err.write(err.wrap(question))
    const typed = await readKey(input, keys, signal, () => void err.write(bell))
    if (typed === null) await err.write('\n')
    return typed
  } finally {
    input.setRawMode?.(false)
  }
}

/** Drops keys until none comes for a moment. Returns false if the question is cancelled meanwhile. */
function dropTyped(input: Input, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(true), quietMs)
  const onData = (data: Buffer | string) => {
    timer.refresh()
    if (!data.toString().includes(interrupt)) return
    process.kill(process.pid, 'SIGINT') // a raw terminal sends no signal
    resolve(false)
  }
  const onEnd = () => resolve(false)
  if (signal.aborted) onEnd()
  signal.addEventListener('abort', onEnd)
  input.on('data', onData).on('end', onEnd).on('error', reject).resume()
  return promise.finally(() => {
    clearTimeout(timer)
    input.off('data', onData).off('end', onEnd).off('error', reject).pause()
    signal.removeEventListener('abort', onEnd)
  })
}

/** Reads until one of the keys is pressed. */
function readKey(
  input: Input,
  keys: ReadonlySet<string>,
  signal: AbortSignal,
  onOther: () => void,
): Promise<string | null> {
  const pressed = Promise.withResolvers<string | null>()
  const onData = (data: Buffer | string) => {
    for (const key of data.toString().toLowerCase()) {
      if (key === interrupt) process.kill(process.pid, 'SIGINT') // a raw terminal sends no signal
      if (key === interrupt || key === endOfInput) return pressed.resolve(null)
      if (key === suspend) return suspendProgram(input)
      if (keys.has(key)) return pressed.resolve(key)
    }
    onOther()
  }
  const onEnd = () => pressed.resolve(null)
  if (signal.aborted) return Promise.resolve(null)
  signal.addEventListener('abort', onEnd)
  input.on('data', onData).on('end', onEnd).on('error', pressed.reject).resume()
  return pressed.promise.finally(() => {
    input.off('data', onData).off('end', onEnd).off('error', pressed.reject).pause()
    signal.removeEventListener('abort', onEnd)
  })
}

/** Stops this program as a terminal that is not raw does, and takes the keys again when it goes on. */
function suspendProgram(input: Input): void {
  input.setRawMode?.(false)
  process.once('SIGCONT', () => input.setRawMode?.(true))
  process.kill(process.pid, 'SIGTSTP')
}

type Typed = 'more' | 'done' | 'cancelled'

const ends = new Set(['\r', '\n'])
const rubouts = new Set(['\u007f', '\b'])
const [interrupt, endOfInput, eraseLine, escapeKey] = ['\u0003', '\u0004', '\u0015', '\u001b']
const [suspend, bell] = ['\u001a', '\u0007']

/** Collects a typed line. Handles the editing keys, because a terminal without echo does not. */
function createLine() {
  let text = ''
  return {
    text: () => text,
    /** Adds typed keys; ignores escape sequences such as arrow keys. */
    add(keys: string): Typed {
      for (const [key = ''] of keys.matchAll(/\u001b(?:\[[\d;]*[ -/]*[@-~]|O.|.)?|[\s\S]/gu)) {
        if (key === interrupt) return 'cancelled'
        if (key === endOfInput) return text === '' ? 'cancelled' : 'done'
        if (ends.has(key)) return 'done'
        if (rubouts.has(key)) text = [...text].slice(0, -1).join('')
        else if (key === eraseLine) text = ''
        else if (!key.startsWith(escapeKey) && text.length < typedCharsMax) text += key
      }
      return 'more'
    },
  }
}

/** Reads keys until the line is complete or cancelled. */
function readTyped(input: Input, signal: AbortSignal): Promise<string | null> {
  const line = createLine()
  return new Promise((resolve, reject) => {
    const end = (typed: string | null) => {
      input.off('data', onData).off('end', onEnd).off('error', onError).pause()
      signal.removeEventListener('abort', onEnd)
      resolve(typed)
    }
    const onData = (keys: Buffer | string) => {
      const typed = line.add(keys.toString())
      if (typed !== 'more') end(typed === 'done' ? line.text() : null)
    }
    const onEnd = () => end(signal.aborted || line.text() === '' ? null : line.text())
    const onError = (error: Error) => {
      end(null)
      reject(error)
    }
    if (signal.aborted) return resolve(null)
    signal.addEventListener('abort', onEnd)
    input.on('data', onData).on('end', onEnd).on('error', onError).resume()
  })
}
