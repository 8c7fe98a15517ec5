import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openHoldfast } from './open.ts'

const edits = ['edit .env: SECRET=abc124 => x', 'edits .env: SECRET=abc124 => x', 'patch .env: SECRET=abc124 => x']
const requests = [...edits, 'read .env', 'move .env => env.txt']

/** Runs the requests in a session with a rule about .env, and returns what the calls answered the model. */
async function answersWith(tool: string, verdict: 'deny' | 'ask') {
  const workdir = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-ruled-')))
  onTestFinished(() => rm(workdir, { recursive: true, force: true }))
  await writeFile(join(workdir, '.env'), 'SECRET=abc123\n')
  const environment = { HOLDFAST_HOME: join(workdir, '..', 'none'), DEMO_PACE: '0' }
  await using holdfast = await openHoldfast({ store: 'memory:', environment })
  const session = await holdfast.startSession({ workdir, permissions: [{ tool, pattern: '.env', verdict }] })
  let asked = 0
  for (const request of requests)
    for await (const item of session.prompt(request)) {
      if (item.type !== 'approval') continue
      asked++
      await session.respondToApproval('reject')
    }
  expect(await readFile(join(workdir, '.env'), 'utf8')).toBe('SECRET=abc123\n')
  const calls = (await session.messages()).filter(({ kind }) => kind === 'tool_call')
  expect(calls).toHaveLength(requests.length)
  return { answers: JSON.stringify(calls), asked }
}

const tools = ['*', 'read_file']

it.each(tools)('tells the model nothing of a file that a rule for %s denies', async (tool) => {
  const { answers, asked } = await answersWith(tool, 'deny')
  expect(answers).not.toMatch(/abc123|not_seen|no_match/)
  expect(answers.match(/your rule|rule of this session|forbids/g)).toHaveLength(requests.length)
  expect(asked).toBe(0)
})

it.each(tools)(
  'shows the model nothing of a file that a rule for %s asks about, before a person has answered',
  async (tool) => {
    const { answers, asked } = await answersWith(tool, 'ask')
    expect(answers).not.toContain('abc123')
    expect(asked).toBeGreaterThan(0)
  },
)
