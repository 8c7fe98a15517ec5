import type { ScreenStream } from '../../terminal/cli-context.ts'
import type { Input } from '../../terminal/prompt-user.ts'
import { createKeyDecoder, type KeyEvent } from './decode-keys.ts'

export type TerminalSize = { readonly columns: number; readonly rows: number }

/** A terminal whose keys this process gets one by one. */
export interface Terminal {
  size(): TerminalSize
  write(text: string): void
  /** Whether the terminal has not taken what was written. Nothing should be drawn until `onDrain`. */
  isBehind(): boolean
  /** Gives the terminal back, as for an external editor, until `enter`. */
  leave(): void
  enter(): void
  /** Gives it back for good. */
  close(): void
}

type TerminalDeps = {
  readonly input: Input
  readonly output: ScreenStream
  readonly onKey: (event: KeyEvent) => void
  readonly onResize: () => void
  readonly onDrain: () => void
  /** The terminal is gone: its window was closed, or the connection broke. */
  readonly onGone: () => void
}

/** How long an escape may wait for the rest of its sequence; a slow line sends both in one packet. */
const escapeMs = 30

// Bracketed paste, and keys with all their modifiers where the terminal knows the kitty protocol.
const modesOn = '\u001b[?2004h\u001b[>1u'
/** The mouse, in the form that has no limit of columns. */
export const mouseOn = '\u001b[?1000h\u001b[?1006h'
export const mouseOff = '\u001b[?1006l\u001b[?1000l'
const modesOff = '\u001b[?1006l\u001b[?1000l\u001b[<u\u001b[?2004l\u001b[?7h\u001b[?2026l\u001b[0m\u001b[?25h'

/** The text that restores a terminal, also after a crash. */
export const restoreText = modesOff

export function openTerminal({ input, output, onKey, onResize, onDrain, onGone }: TerminalDeps): Terminal {
  const decoder = createKeyDecoder()
  let isOpen = false
  let timer: NodeJS.Timeout | undefined

  const onData = (chunk: Buffer | string) => {
    clearTimeout(timer)
    for (const event of decoder.add(chunk.toString())) onKey(event)
    if (!decoder.isWaiting) return
    timer = setTimeout(() => {
      for (const event of decoder.flush()) onKey(event)
    }, escapeMs)
  }

  const terminal: Terminal = {
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    write: (text) => void output.write(text),
    isBehind: () => output.writableNeedDrain === true,
    enter() {
      if (isOpen) return
      isOpen = true
      input.setEncoding('utf8')
      input.setRawMode?.(true)
      input.on('data', onData).on('end', onGone).on('error', onGone).resume()
      output.on('resize', onResize)
      output.on('drain', onDrain)
      output.write(modesOn)
    },
    leave() {
      if (!isOpen) return
      isOpen = false
      clearTimeout(timer)
      input.off('data', onData).off('end', onGone).off('error', onGone).pause()
      output.off('resize', onResize)
      output.off('drain', onDrain)
      output.write(modesOff)
      try {
        input.setRawMode?.(false)
      } catch {
        // the terminal is gone
      }
    },
    close: () => terminal.leave(),
  }
  terminal.enter()
  return terminal
}
