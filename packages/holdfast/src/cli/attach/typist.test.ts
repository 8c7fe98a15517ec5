import { type CommandInput, fault, ok, refuse, type SessionHandle } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { slashTexts } from '../sessions/slash-commands.ts'
import { createTextOutput } from '../testing/text-output.ts'
import { createTypist } from './typist.ts'

type Answers = { readonly isDriving?: boolean; readonly result?: object; readonly hits?: readonly object[] }

/** A typist at a session that has a branch, tasks and trust; and what it sent and printed. */
function createTyping({ isDriving = true, result = {}, hits = [] }: Answers = {}) {
  const sent: CommandInput[] = []
  const printed: string[] = []
  let hasLeft = false
  const { output: err } = createTextOutput()
  const print = async (text: string) => void printed.push(text)
  const todos = [{ status: 'done', description: 'read the file' }]
  const trust = [{ tool: 'write_file', scope: 'session' }]
  const handle = {
    async submit(command: CommandInput) {
      sent.push(command)
      return isDriving ? ok({ seq: 1, result }) : refuse(fault('not_driver', 'page-1 drives this session.'))
    },
    state: async () => ok({ todos, trust, here: null, meta: { handle: 'calm-harbor-12', workspace: '/x' } }),
    commands: async () => ok([{ name: 'tidy', description: 'tidy up', arguments: null }]),
    branches: async () =>
      ok([{ name: 'first-try', turns: 2, messages: 4, at: new Date(0).toISOString(), differsAt: 1 }]),
    page: async () => ok({ messages: [{ turn: 3, kind: 'user', text: 'count' }], before: null, after: null }),
    previewRestore: async () => ok({ files: [], refused: [] }),
    fileChanges: async () => ok({ changes: [], before: null }),
    boundaries: async () => ok([]),
    subagents: async () => ok([]),
    skills: async () => ok([]),
  } as unknown as SessionHandle // only what the commands use
  const sessions = {
    list: async () => ok({ sessions: [], next: null }),
    search: async () => ok({ hits, next: null }),
    open: async (name: string) => (name === 'gone' ? refuse(fault('session_not_found', 'It is gone.')) : ok(handle)),
  }
  const typist = createTypist({
    handle,
    client: 'here',
    output: { show: async () => undefined, end: async () => undefined, note: print, tell: print },
    screen: { isDriving: () => isDriving, questions: () => [], isRunning: () => false } as never,
    sessions: sessions as never,
    context: { err, now: () => 0 } as never,
    leave: () => {
      hasLeft = true
    },
  })
  return { ...typist, sent, text: () => printed.join('\n'), hasLeft: () => hasLeft }
}

it.each([
  ['/branches', /first-try/],
  ['/todos', /\[x\] read the file/],
  ['/trust', /write_file, for the session/],
  ['/files', /changed no files/],
  ['/boundaries', /no edit boundaries/],
  ['/agents', /no subagents/],
  ['/skills', /no skills/],
  ['/sessions', /HANDLE/],
  ['/search words', /Nothing was found/],
  ['/undo', /\/undo yes takes turn 3 back/],
  ['/rewind', /3 {2}count\n\/rewind <turn> goes back/],
  ['/branch', /3 {2}count\n\/branch <turn> goes back/],
  ['/export report.pdf', /must end in \.md/],
  ['/transcript', /works on a screen only/],
  ['/mouse', /works on a screen only/],
  ['/help', /\/undo \[yes\][\s\S]*\/drive takes control/],
])('%s prints its answer and sends nothing, also when watching', async (line, expected) => {
  for (const isDriving of [true, false]) {
    const { type, sent, text } = createTyping({ isDriving })
    await type(line)
    expect(text()).toMatch(expected)
    expect(sent).toEqual([])
  }
})

it.each(['rewind', 'branch'])('/%s says what was saved, and where the session goes on', async (ran) => {
  const { type, sent, text } = createTyping({ result: { ran, branch: 'line-2' } })
  await type(`/${ran} 0`)
  expect(sent).toEqual([{ type: 'sendPrompt', content: `/${ran} 0` }])
  expect(text()).toBe('Saved the messages so far as line-2. The session continues from the end of turn 0.')
})

it('/search names a session by its handle, or by its id if it cannot be read', async () => {
  const hit = { title: 'counting', messageId: 4, kind: 'user', at: new Date(0).toISOString(), snippet: 'count' }
  const { type, text } = createTyping({
    hits: [
      { ...hit, sessionId: '01890000-0000-7000-8000-000000000001' },
      { ...hit, sessionId: 'gone' },
    ],
  })
  await type('/search count')
  expect(text()).toMatch(/^calm-harbor-12 {2}counting {2}#4[\s\S]*\ngone {2}counting/)
})

it('takes the last turn back after yes, with its files', async () => {
  const { type, sent } = createTyping()
  await type('/undo yes')
  expect(sent).toEqual([
    { type: 'rewind', turn: 2 },
    { type: 'restoreFiles', turn: 2 },
  ])
})

it('/trust revoke makes a tool ask again, and /quit leaves', async () => {
  const { type, sent, hasLeft } = createTyping()
  await type('/trust revoke write_file')
  await type('/quit')
  expect(sent).toEqual([{ type: 'revokeToolTrust', tool: 'write_file' }])
  expect(hasLeft()).toBe(true)
})

it('a refusal when watching says how to take control', async () => {
  const { type, text } = createTyping({ isDriving: false })
  await type('hello')
  expect(text()).toBe('page-1 drives this session. /drive takes control.')
})

it('describes in its help each command of the terminal UI that works in lines', async () => {
  const { type, text } = createTyping()
  await type('/help')
  const missing = slashTexts().filter(([name, { isBare }]) => !isBare && !text().includes(`/${name}`))
  expect(missing.map(([name]) => name)).toEqual(['new', 'transcript', 'fold', 'mouse'])
})

it('leaves with /leave as with /quit', async () => {
  const { type, hasLeft } = createTyping()
  await type('/leave')
  expect(hasLeft()).toBe(true)
})
