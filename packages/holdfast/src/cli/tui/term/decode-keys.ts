/** What a person did at the keyboard or, where it is on, with the mouse. Rows and columns count from 0. A key has a name such as `ctrl+p`, `alt+enter` or `shift+tab`. */
export type KeyEvent =
  | { readonly type: 'key'; readonly name: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string; readonly isCut: boolean }
  | { readonly type: 'mouse'; readonly action: MouseAction; readonly row: number; readonly column: number }

export type MouseAction = 'press' | 'wheelup' | 'wheeldown'

export interface KeyDecoder {
  /** Decodes what the terminal sent. An unfinished sequence waits for the rest. */
  add(chunk: string): readonly KeyEvent[]
  /** Whether an escape waits for the rest of its sequence. After a short time it is the key itself: see `flush`. */
  readonly isWaiting: boolean
  /** Ends the wait: a lone escape is the Esc key. */
  flush(): readonly KeyEvent[]
}

const pasteStart = '\u001b[200~'
const pasteEnd = '\u001b[201~'
/** A longer paste is cut: a prompt has at most 1 MiB. */
const pasteCharsMax = 2 * 1024 * 1024

// A sequence of the terminal: CSI, SS3, or escape and one character.
const sequence = /^\u001b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|O[ -~]|[^\u001b[O])/u
const unfinished = /^\u001b(?:\[[0-9;:<=>?]*[ -/]*|O)?$/
const printable = /^[^\u0000-\u001f\u007f\u001b]+/u

export function createKeyDecoder(): KeyDecoder {
  let rest = ''
  let pasted: { chunks: string[]; length: number } | null = null

  function addPasted(text: string): void {
    if (!pasted) return
    const room = pasteCharsMax - pasted.length
    if (room > 0) pasted.chunks.push(text.slice(0, room))
    pasted.length += text.length
  }

  /** Takes what belongs to the open paste. Returns its event if it ended. */
  function takePaste(): KeyEvent | null {
    const end = rest.indexOf(pasteEnd)
    if (end === -1) {
      const kept = Math.max(0, rest.length - pasteEnd.length + 1) // the end may be cut in two
      addPasted(rest.slice(0, kept))
      rest = rest.slice(kept)
      return null
    }
    addPasted(rest.slice(0, end))
    const { chunks = [], length = 0 } = pasted ?? {}
    rest = rest.slice(end + pasteEnd.length)
    pasted = null
    return { type: 'paste', text: withLineFeeds(chunks.join('')), isCut: length > pasteCharsMax }
  }

  function take(): KeyEvent | null {
    const [text] = printable.exec(rest) ?? []
    if (text !== undefined) {
      rest = rest.slice(text.length)
      return { type: 'text', text }
    }
    if (!rest.startsWith('\u001b')) {
      const [key = ''] = rest
      rest = rest.slice(key.length)
      return { type: 'key', name: controlName(key) }
    }
    const [found] = sequence.exec(rest) ?? []
    if (found === undefined) {
      if (!unfinished.test(rest)) rest = rest.slice(1) // a broken sequence: drop its escape
      return null
    }
    rest = rest.slice(found.length)
    if (found.startsWith('\u001b[<')) return mouseEvent(found)
    const name = sequenceName(found)
    return name === null ? null : { type: 'key', name }
  }

  return {
    get isWaiting() {
      return pasted === null && rest !== ''
    },
    add(chunk) {
      if (pasted === null && rest === '' && isUnmarkedPaste(chunk))
        return [
          { type: 'paste', text: withLineFeeds(chunk.slice(0, pasteCharsMax)), isCut: chunk.length > pasteCharsMax },
        ]
      rest += chunk
      const events: KeyEvent[] = []
      for (let left = -1; rest !== '' && rest.length !== left; ) {
        left = rest.length
        if (pasted === null && rest.startsWith(pasteStart)) {
          rest = rest.slice(pasteStart.length)
          pasted = { chunks: [], length: 0 }
          left = -1
        }
        const event = pasted === null ? take() : takePaste()
        if (event) events.push(event)
      }
      return events
    },
    flush() {
      if (rest === '' || pasted !== null) return []
      const isEscape = rest === '\u001b'
      rest = ''
      return isEscape ? [{ type: 'key', name: 'esc' }] : []
    },
  }
}

/** A terminal without marks around a paste sends its lines at once. A person types one key at a time. */
const isUnmarkedPaste = (chunk: string): boolean =>
  /[^\u0000-\u001f\u007f][\r\n]+[^\u0000-\u001f\u007f]/.test(chunk) && !chunk.includes('\u001b')

const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n')

const controls: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'ctrl+j',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'ctrl+backspace',
  '\u0000': 'ctrl+space',
  '\u001f': 'ctrl+_',
  '\u001c': 'ctrl+\\',
  '\u001d': 'ctrl+]',
}

const controlName = (key: string): string =>
  controls[key] ?? `ctrl+${String.fromCharCode((key.codePointAt(0) ?? 0) + 96)}`

const finals: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'shift+tab',
  I: 'focus',
  O: 'blur',
}
const tildes: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
}
const codes: Readonly<Record<number, string>> = {
  9: 'tab',
  13: 'enter',
  27: 'esc',
  32: 'space',
  127: 'backspace',
  57414: 'enter',
}

const mouseActions: Readonly<Record<string, MouseAction>> = { 0: 'press', 64: 'wheelup', 65: 'wheeldown' }

/** Returns what the mouse did, in the form that terminals call SGR; null for other buttons, moves and releases. */
function mouseEvent(found: string): KeyEvent | null {
  const [, button = '', column, row] = /^\u001b\[<(\d+);(\d+);(\d+)M$/.exec(found) ?? []
  const action = Object.hasOwn(mouseActions, button) ? mouseActions[button] : undefined
  return action ? { type: 'mouse', action, row: Number(row) - 1, column: Number(column) - 1 } : null
}

/** Returns the name of a key that the terminal sends as a sequence; null for an answer of the terminal. */
function sequenceName(found: string): string | null {
  const body = found.slice(1)
  if (body.startsWith('O')) return finals[body.slice(1)] ?? null
  if (!body.startsWith('[')) return altName(body)
  const final = body.at(-1) ?? ''
  const numbers = body
    .slice(1, -1)
    .split(';')
    .map((one) => Number.parseInt(one, 10))
  const [first = Number.NaN, second = 1, third = Number.NaN] = numbers
  if (final === 'u') return withModifiers(codeName(first), second)
  if (final === '~' && first === 27) return withModifiers(codeName(third), second) // xterm's modifyOtherKeys
  if (final === '~') return tildes[first] === undefined ? null : withModifiers(tildes[first], second)
  const name = finals[final]
  return name === undefined || name === 'focus' || name === 'blur' ? null : withModifiers(name, second)
}

const codeName = (code: number): string | null => {
  const known = codes[code]
  if (known !== undefined) return known
  return code > 32 && code < 0x110000 ? String.fromCodePoint(code).toLowerCase() : null
}

const altName = (key: string): string => {
  if (key === '\r') return 'alt+enter'
  const [first = ''] = key
  const named = /^[\u0000-\u001f\u007f]$/.test(first) ? controlName(first) : first.toLowerCase()
  return `alt+${named}`
}

/** Adds the modifiers of a key: the parameter is 1 plus the bits of shift, alt and ctrl. */
function withModifiers(name: string | null, parameter: number): string | null {
  if (name === null) return null
  const bits = Math.max(0, (parameter || 1) - 1)
  const all = [...(bits & 4 ? ['ctrl'] : []), ...(bits & 2 ? ['alt'] : []), ...(bits & 1 ? ['shift'] : [])]
  return [...all, name].join('+')
}
