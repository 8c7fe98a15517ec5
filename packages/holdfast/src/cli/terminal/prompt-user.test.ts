import { PassThrough, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { wrapSentences } from '../render/wrap-words.ts'
import { createOutput } from './output.ts'
import { askHidden, askLine, type Input } from './prompt-user.ts'

/** A terminal: shows what is typed unless it was rawModes not to, and keeps all that was ever on it. */
function openTerminal() {
  let screen = ''
  let isRaw = false
  const rawModes: boolean[] = []
  const waiting: { readonly text: string; readonly resolve: () => void }[] = []
  const look = () => {
    for (const one of waiting) if (screen.includes(one.text)) one.resolve()
  }
  const show = (text: string) => {
    screen += text
    look()
  }
  const keys = new PassThrough()
  const input: Input = Object.assign(keys, {
    isTTY: true,
    setRawMode(raw: boolean) {
      isRaw = raw
      rawModes.push(raw)
    },
  })
  const stream = new Writable({
    write(chunk, _, done) {
      show(String(chunk))
      done()
    },
  })
  const interruption = new AbortController()
  return {
    deps: {
      input,
      err: createOutput({ stream, colour: 'never', rejectsOnFailure: false, wrapSentences }),
      signal: interruption.signal,
    },
    interrupt: () => interruption.abort(),
    rawModes,
    screen: () => screen,
    shows: (text: string) =>
      new Promise<void>((resolve) => {
        waiting.push({ text, resolve })
        look()
      }),
    type(text: string) {
      if (!isRaw) show(text)
      keys.write(text)
    },
    hangUp: () => keys.end(),
  }
}

const key = `made-typed-${'X0'.repeat(12)}`

describe('a hidden question', () => {
  it('shows nothing of the typed key, not even its length', async () => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.deps)
    await terminal.shows('Key: ')
    terminal.type(key.slice(0, 9))
    terminal.type(`${key.slice(9)}\r`)
    expect(await answer).toBe(key)
    expect(terminal.screen()).toBe('Key: \n')
    expect(terminal.rawModes).toEqual([true, false])
  })

  it('turns echo off before it is printed', async () => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.deps)
    terminal.type(`${key}\r`) // before the question is on the screen
    expect(await answer).toBe(key)
    expect(terminal.screen()).not.toContain('X0')
  })

  it.each([
    ['corrected with backspace', `${key}ab\u007f\b\r`],
    ['erased and typed again', `wrong\u0015${key}\n`],
    ['typed with arrow and function keys', `\u001b[A\u001bOP\u001b[200~${key}\u001b[201~\u001b[3~\r`],
    ['ended with Ctrl-D', `${key}\u0004`],
  ])('accepts a key that was %s', async (_, typed) => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.deps)
    terminal.type(typed)
    expect(await answer).toBe(key)
  })

  it.each([
    ['Ctrl-C', (terminal: ReturnType<typeof openTerminal>) => terminal.type(`${key}\u0003`)],
    ['Ctrl-D on an empty line', (terminal: ReturnType<typeof openTerminal>) => terminal.type('\u0004')],
    ['a signal', (terminal: ReturnType<typeof openTerminal>) => terminal.interrupt()],
    ['a closed terminal', (terminal: ReturnType<typeof openTerminal>) => terminal.hangUp()],
  ])('is cancelled by %s, and echo is on again', async (_, cancel) => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.deps)
    await terminal.shows('Key: ')
    cancel(terminal)
    expect(await answer).toBeNull()
    expect(terminal.rawModes).toEqual([true, false])
  })

  it('leaves the next line to the next question', async () => {
    const terminal = openTerminal()
    const first = askHidden('Key: ', terminal.deps)
    terminal.type('one\r')
    expect(await first).toBe('one')
    const second = askLine('Store it? ', terminal.deps)
    terminal.type('yes\n')
    expect(await second).toBe('yes')
    expect(terminal.screen()).toBe('Key: \nStore it? yes\n')
  })
})
