import type { CommandInput } from '@holdfast/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import { emptyEditor } from '../input/editor.ts'
import { createPastes } from '../input/pastes.ts'
import type { KeyEvent } from '../term/decode-keys.ts'
import { type App, guardMs } from './app-state.ts'
import { focusQuestion } from './approvals.ts'
import { handleKey } from './keys.ts'

afterEach(() => void vi.useRealTimers()) // unit tests share their timers with other files

const shell = { tool: 'shell', preview: { type: 'command', command: 'rm -r x', cwd: '/' } }
const client = 'here'

/** An app with open questions, the commands that it sent, and a clock. */
function createApp(ids: readonly string[] = ['one']) {
  vi.useFakeTimers() // a draw that is asked for later must not outlive the test
  const sent: CommandInput[] = []
  let now = 1_000_000
  const live = {
    view: { pendingApprovals: ids.map((id) => ({ ...shell, id })), queue: [], activity: 'awaiting_approval' },
    presence: [{ client, role: 'driver' }],
    subscriberRole: () => 'driver',
    async submit(command: CommandInput) {
      sent.push(command)
      return { ok: true, value: { seq: 1, result: {} } }
    },
  }
  const app = {
    live,
    client,
    editor: emptyEditor,
    pastes: createPastes(),
    completions: null,
    focus: { type: 'prompt' },
    history: { add: () => undefined, reset: () => undefined },
    host: { notice: () => undefined },
    commands: [],
    shownQuestion: null,
    armed: null,
    arm: () => undefined,
    redraw: () => undefined,
  } as unknown as App // only what keys and questions use
  const deps = {
    size: () => ({ columns: 80, rows: 24 }),
    now: () => now,
    suspend: () => undefined,
    repaint: () => undefined,
  }
  const draw = () => focusQuestion(app, now)
  return {
    app,
    sent,
    draw,
    later(ms: number) {
      now += ms
    },
    press(...events: readonly KeyEvent[]) {
      for (const event of events) {
        handleKey(app, event, deps)
        draw()
      }
    },
    removeFirst: () => live.view.pendingApprovals.shift(),
  }
}

const typed = (text: string): readonly KeyEvent[] => [...text].map((one) => ({ type: 'text', text: one }))
const key = (name: string): KeyEvent => ({ type: 'key', name })

it('a command that is typed slowly with a question open goes to the input and answers nothing', () => {
  const { app, sent, draw, later, press } = createApp()
  draw()
  later(guardMs)
  for (const one of typed('/trust')) {
    press(one)
    later(1000)
  }
  expect(app.editor.text).toBe('/trust')
  expect(sent).toEqual([])
})

it('the keys stay with the input after it was emptied, until Esc or Tab gives them to the question', () => {
  for (const back of ['esc', 'tab']) {
    const { app, sent, draw, later, press } = createApp()
    draw()
    later(guardMs)
    press(...typed('xt'), key('backspace'), key('backspace'), ...typed('t'), key('backspace'))
    expect(app.focus).toEqual({ type: 'prompt', isKept: true })
    expect(sent).toEqual([])
    press(key(back))
    expect(app.focus.type).toBe('approval')
    press(...typed('y'))
    expect(sent).toMatchObject([{ type: 'respondToApproval', decision: 'approve' }])
  }
})

it('Tab leaves a question open and writes first, without a space in the input', () => {
  const { app, sent, draw, later, press } = createApp()
  draw()
  later(guardMs)
  press(key('tab'), ...typed('say'))
  expect(app.editor.text).toBe('say')
  expect(sent).toEqual([])
})

it('after a paste the next letters are text', () => {
  const { app, sent, draw, later, press } = createApp()
  draw()
  later(guardMs)
  press({ type: 'paste', text: '', isCut: false }, ...typed('sta'))
  expect(app.editor.text).toBe('sta')
  expect(sent).toEqual([])
})

it('no key answers a question in the moment after it was drawn, also if no key came before', () => {
  const { app, sent, draw, later, press } = createApp()
  draw()
  for (const one of 'ytsan') press(...typed(one))
  later(guardMs - 1)
  for (const one of 'ytsan') press(...typed(one))
  expect(sent).toEqual([])
  expect(app.editor.text).toBe('')
  later(1)
  press(...typed('y'))
  expect(sent).toMatchObject([{ type: 'respondToApproval', decision: 'approve', approval: 'one' }])
})

it('a key that comes before the next question is drawn does not answer it', () => {
  const { sent, draw, later, press, removeFirst } = createApp(['one', 'two'])
  draw()
  later(guardMs)
  removeFirst() // answered by another screen
  press(...typed('a'), ...typed('a'))
  expect(sent).toEqual([])
})
