import { PassThrough, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createOutput } from './output.ts'
import { askHidden, askLine, type Input } from './prompt-user.ts'

/** A terminal: shows what is typed unless it was told not to, and keeps all that was ever on it. */
function openTerminal() {
  let screen = ''
  let isRaw = false
  const told: boolean[] = []
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
      told.push(raw)
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
    parts: { input, err: createOutput({ stream, isColoured: false, isVital: false }), signal: interruption.signal },
    interrupt: () => interruption.abort(),
    told,
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
  it('takes a key of which nothing is on the screen, not even its length', async () => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.parts)
    await terminal.shows('Key: ')
    terminal.type(key.slice(0, 9))
    terminal.type(`${key.slice(9)}\r`)
    expect(await answer).toBe(key)
    expect(terminal.screen()).toBe('Key: \n')
    expect(terminal.told).toEqual([true, false])
  })

  it('is put only once the terminal shows nothing any more', async () => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.parts)
    terminal.type(`${key}\r`) // before the question is on the screen
    expect(await answer).toBe(key)
    expect(terminal.screen()).not.toContain('X0')
  })

  it.each([
    ['rubbed out', `${key}ab\u007f\b\r`],
    ['erased and typed again', `wrong\u0015${key}\n`],
    ['typed with keys that write nothing', `\u001b[A\u001bOP\u001b[200~${key}\u001b[201~\u001b[3~\r`],
    ['ended as input ends', `${key}\u0004`],
  ])('takes what was %s', async (_, typed) => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.parts)
    terminal.type(typed)
    expect(await answer).toBe(key)
  })

  it.each([
    ['Ctrl-C', (terminal: ReturnType<typeof openTerminal>) => terminal.type(`${key}\u0003`)],
    ['Ctrl-D on an empty line', (terminal: ReturnType<typeof openTerminal>) => terminal.type('\u0004')],
    ['a signal', (terminal: ReturnType<typeof openTerminal>) => terminal.interrupt()],
    ['a terminal that is gone', (terminal: ReturnType<typeof openTerminal>) => terminal.hangUp()],
  ])('is left by %s, and the terminal shows again what is typed', async (_, leave) => {
    const terminal = openTerminal()
    const answer = askHidden('Key: ', terminal.parts)
    await terminal.shows('Key: ')
    leave(terminal)
    expect(await answer).toBeNull()
    expect(terminal.told).toEqual([true, false])
  })

  it('leaves the next line to the next question', async () => {
    const terminal = openTerminal()
    const first = askHidden('Key: ', terminal.parts)
    terminal.type('one\r')
    expect(await first).toBe('one')
    const second = askLine('Store it? ', terminal.parts)
    terminal.type('yes\n')
    expect(await second).toBe('yes')
    expect(terminal.screen()).toBe('Key: \nStore it? yes\n')
  })
})
