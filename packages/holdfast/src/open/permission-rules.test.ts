import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HoldfastError, invariant } from '@holdfast/protocol'
import { ruleTools } from '@holdfast/protocol/rule-coverage'
import { expect, it, onTestFinished } from 'vitest'
import { openHoldfast } from '../open.ts'
import { codeOf, openTestServer } from '../server/testing/test-server.ts'
import { findHome } from '../system/home.ts'
import { openPermissionRules } from './permission-rules.ts'

it("stores an admin's approve_always over HTTP as a rule of this workspace, and a driver can write no rule", async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-driver-')))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const [here, elsewhere] = [join(home, 'here'), join(home, 'elsewhere')]
  for (const folder of [here, elsewhere]) await mkdir(folder)
  const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
  const holdfast = await openHoldfast({ environment, model: 'demo/agent', sandbox: 'off' })
  onTestFinished(() => holdfast.close())
  const permissions = openPermissionRules(findHome(environment))
  await using test = await openTestServer({ sessions: holdfast.handles, permissions })

  const ask = async (workdir: string) => {
    const session = await holdfast.startSession({ workdir })
    for await (const item of session.prompt('run echo $((1 + 1))')) if (item.type === 'approval') return session
    return null
  }
  const session = await ask(here)
  const body = JSON.stringify({ type: 'respondToApproval', decision: 'approve_always' })
  const path = `/v1/sessions/${session?.id}/commands`
  const admin = { headers: { authorization: `Bearer ${test.tokens.admin}` } }
  const byDriver = await test.post(path, body)
  expect([byDriver.status, await codeOf(byDriver)]).toEqual([403, 'not_driver'])
  expect(await (await test.call('/v1/permissions', admin)).json()).toEqual({ permissions: [] })
  const json = { 'content-type': 'application/json', ...admin.headers }
  const answer = await test.call(path, { method: 'POST', body, headers: json })
  expect([answer.status, await answer.json()]).toMatchObject([
    202,
    { result: { rule: { tool: 'shell', verdict: 'allow', pattern: 'echo $((1 + 1))', exact: true } } },
  ])
  expect(await (await test.call('/v1/permissions', admin)).json()).toMatchObject({
    permissions: [{ tool: 'shell', verdict: 'allow', pattern: 'echo $((1 + 1))', exact: true, workspace: here }],
  })
  expect(await ask(here)).toBeNull()
  expect(await ask(elsewhere)).not.toBeNull()

  const rule = JSON.stringify({ tool: 'shell', verdict: 'allow', pattern: 'echo **' })
  const refused = await test.post('/v1/permissions', rule)
  expect([refused.status, await codeOf(refused)]).toEqual([403, 'not_driver'])
})

it.each([
  [{ tool: 'shell', verdict: 'allow' }, 'This rule would allow every command.'],
  [{ tool: '*', verdict: 'allow' }, 'This rule would allow every command.'],
  [{ tool: 'shell', pattern: 'bash **', verdict: 'allow' }, 'bash can run programs'],
  [{ tool: 'shel', pattern: 'rm *', verdict: 'deny' }, "There is no tool shel. Did you mean 'shell'?"],
] as const)('refuses a session with a rule that covers too much or nothing: %j', async (rule, message) => {
  const environment = { HOLDFAST_HOME: join(tmpdir(), 'holdfast-none'), DEMO_PACE: '0' }
  await using holdfast = await openHoldfast({ store: 'memory:', environment, sandbox: 'off' })
  await expect(holdfast.startSession({ workdir: tmpdir(), permissions: [rule] })).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringContaining(message),
  })
  await using test = await openTestServer({ sessions: holdfast.handles })
  const body = JSON.stringify({ workdir: tmpdir(), permissions: [rule] })
  const answer = await test.post('/v1/sessions', body, { authorization: `Bearer ${test.tokens.admin}` })
  expect([answer.status, await codeOf(answer)]).toEqual([400, 'bad_request'])
})

it('knows every built-in tool by name, to warn of a rule for another', async () => {
  const environment = { HOLDFAST_HOME: join(tmpdir(), 'holdfast-none'), DEMO_PACE: '0' }
  await using holdfast = await openHoldfast({ store: 'memory:', environment, sandbox: 'off' })
  const known = ruleTools.filter((tool) => tool !== '*' && tool !== 'network').toSorted()
  const refused: unknown = await holdfast.startSession({ tools: ['none'] }).catch((error: unknown) => error)
  invariant(refused instanceof HoldfastError, 'there is no such tool')
  expect([refused.details?.['known']].flat().toSorted()).toEqual(known)
})
