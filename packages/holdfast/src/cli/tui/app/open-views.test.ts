import type { SessionHandle, Sessions } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createCodeColours } from '../render/code.ts'
import type { FullView } from '../views/full-view.ts'
import type { App } from './app-state.ts'
import { openAgents, openHelp } from './open-views.ts'
import { listCommands } from './terminal-commands.ts'

it('the transcript of a subagent follows its session only while it is open', async () => {
  const followed: AbortSignal[] = []
  const handle: Partial<SessionHandle> = {
    async *subscribe({ signal } = {}) {
      if (!signal) return
      followed.push(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  const sessions: Partial<Sessions> = {
    open: async () => ({ ok: true, value: handle as SessionHandle }), // only what the view uses
  }
  const views: FullView[] = []
  const opened = Promise.withResolvers<void>()
  const host: App['host'] = {
    redraw: () => undefined,
    notice: () => undefined,
    close: () => views.pop()?.close?.(),
    open(view) {
      views.push(view)
      if (views.length === 2) opened.resolve()
    },
  }
  const child = { id: 'ses_1', handle: 'calm-harbor-12', agent: 'general', task: 'list', status: 'running' }
  const live = { here: { children: [child] } }
  // Only what the list of subagents uses.
  openAgents({ host, live, reached: { sessions }, colours: createCodeColours(() => undefined) } as unknown as App)

  views[0]?.key({ type: 'key', name: 'enter' })
  await opened.promise
  expect(followed.map(({ aborted }) => aborted)).toEqual([false])
  host.close()
  expect(followed.map(({ aborted }) => aborted)).toEqual([true])
})

it('the help shows a long command on a row of its own', () => {
  const views: FullView[] = []
  const host = { redraw: () => undefined, open: (view: FullView) => void views.push(view) }
  openHelp({ host, commands: listCommands([]) } as unknown as App) // only what the help uses
  const rows = views[0]?.draw({ columns: 80, rows: 100 }).rows.map((row) => row.map(({ text }) => text).join(''))
  const at = rows?.indexOf('  /export [file.md|html|json|jsonl]') ?? -1
  expect(rows?.[at + 1]?.trim()).toBe('write the session to a file')
})
