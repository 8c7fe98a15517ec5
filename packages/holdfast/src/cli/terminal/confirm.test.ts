import { PassThrough, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { wrapSentences } from '../render/wrap-words.ts'
import { askYesOrNo } from './confirm.ts'
import { createOutput } from './output.ts'

/** A terminal whose line discipline holds a line back until Enter, unless it is raw. */
function openTerminal() {
  const shown = Promise.withResolvers<void>()
  const keys = new PassThrough()
  let isRaw = false
  let held = ''
  const release = () => {
    if (held !== '') keys.write(held)
    held = ''
  }
  const input = Object.assign(keys, {
    isTTY: true,
    setRawMode(raw: boolean) {
      isRaw = raw
      if (raw) release()
    },
  })
  const stream = Object.assign(
    new Writable({
      write(chunk, _, done) {
        if (String(chunk).includes('[y/n]')) shown.resolve()
        done()
      },
    }),
    { isTTY: true, columns: 80 },
  )
  const err = createOutput({ stream, colour: 'never', rejectsOnFailure: false, wrapSentences })
  const interruption = new AbortController()
  return {
    context: { input: () => input, err, untilInterrupted: () => interruption.signal },
    interrupt: () => interruption.abort(),
    shown: shown.promise,
    isRaw: () => isRaw,
    type(text: string) {
      held += text
      if (isRaw || /[\r\n]/.test(text)) release()
    },
  }
}

describe('a yes-or-no question', () => {
  it.each([
    ['a whole answer', 'y\r', 'n\r'],
    ['an answer without Enter', 'y', '\r'],
  ])('does not take %s that was typed before it', async (_, before, after) => {
    const terminal = openTerminal()
    terminal.type(before)
    const answer = askYesOrNo('Delete it?', terminal.context)
    await terminal.shown
    expect(terminal.isRaw()).toBe(false)
    terminal.type(after)
    expect(await answer).toBe(false)
  })

  it('takes the answer that is typed after it', async () => {
    const terminal = openTerminal()
    const answer = askYesOrNo('Delete it?', terminal.context)
    await terminal.shown
    terminal.type('yes\r')
    expect(await answer).toBe(true)
  })

  it('is a no if it is interrupted before it is shown', async () => {
    const terminal = openTerminal()
    const answer = askYesOrNo('Delete it?', terminal.context)
    terminal.interrupt()
    expect(await answer).toBe(false)
    expect(terminal.isRaw()).toBe(false)
  })
})
