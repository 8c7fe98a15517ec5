import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import { createSecret, hashToken, openServer } from '../../packages/holdfast/src/server/index.ts'
import { longConversation } from '../page/long-conversation.ts'
import { createPageModel } from '../page/model.ts'

/** Serves a store with one long session until its parent ends it. Prints the URL and the session. */
const [dir = '', turns = '0'] = process.argv.slice(2)
const holdfast = await openHoldfast({
  store: `sqlite:${join(dir, 'terminal.db')}`,
  environment: { HOLDFAST_HOME: dir },
  models: { 'bench/model': createPageModel() },
})
const [imported] = await holdfast.import({ name: 'long.jsonl', bytes: longConversation(Number(turns), dir) })
const session = await holdfast.getSession(imported?.session ?? '')
await session.setModel('bench/model')
const secret = createSecret()
const server = orThrow(
  await openServer({
    host: '127.0.0.1',
    port: 0,
    version: '0',
    pageDir: dir,
    sessions: holdfast.handles,
    now: Date.now,
    tokens: [{ hash: hashToken(secret), role: 'admin' }],
    onProblem: (problem) => process.stderr.write(`${JSON.stringify(problem)}\n`),
  }),
)
writeFileSync(join(dir, 'token'), secret, { mode: 0o600 })
process.stdout.write(`${JSON.stringify({ url: server.url, session: session.id })}\n`)
