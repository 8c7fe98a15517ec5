import { setTimeout as wait } from 'node:timers/promises'
import type { Provider } from '@holdfast/core/ports'

export const deltasPerSecond = 1000
/** What is sent to it. */
export const longPrompt = 'Write a long text'
const longSeconds = 30
const tickMs = 10

/** Creates a model that streams a long text. */
export const createPageModel = (): Provider => ({
  async *stream() {
    const words = longText.match(/\s*\S+/g) ?? []
    const perTick = (deltasPerSecond * tickMs) / 1000
    const began = performance.now()
    for (let sent = 0; sent < words.length; sent += perTick) {
      for (const word of words.slice(sent, sent + perTick)) yield { type: 'delta', part: 0, kind: 'text', text: word }
      // By the clock, so that a late tick is made up for.
      const dueMs = began + ((sent + perTick) / deltasPerSecond) * 1000
      await wait(Math.max(0, dueMs - performance.now()))
    }
    yield { type: 'said', part: 0, said: { type: 'text', text: longText } }
    const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 }
    yield { type: 'end', end: { type: 'complete', finish: 'stop', usage } }
  },
})

/** A block of code. */
export const code = (number: number) =>
  `\`\`\`ts\nexport const lamp${number} = (watts: number) => watts * ${number}\n\`\`\``

const longText = Array.from({ length: (longSeconds * deltasPerSecond) / 60 }, (_, index) =>
  index % 6 === 0
    ? code(index)
    : `## Part ${index}\n\n${'some words that stream, with **marks** and `code` in them. '.repeat(4)}\n\n- a list\n- of two`,
).join('\n\n')
