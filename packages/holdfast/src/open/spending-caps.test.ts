import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HoldfastError } from '@holdfast/protocol'
import { createScriptedModel, finish, say, scriptedUsage } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'
import { openApi, type Where } from '../testing/near-and-far.ts'

let home = ''
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-caps-')))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof HoldfastError ? error.code : String(error)),
  )

/** Opens a runtime whose model costs 0.25 dollars a call. */
const open = (options: Parameters<typeof openHoldfast>[0] = {}) =>
  openHoldfast({
    environment: { HOLDFAST_HOME: home, PATH: process.env['PATH'] },
    model: 'own/model',
    models: {
      'own/model': createScriptedModel(() => [say('Done.'), finish('stop', { ...scriptedUsage, cost: 0.25 })]),
    },
    ...options,
  })

describe.each<Where>(['here', 'of a server'])('the caps of the runtime %s', (where) => {
  it('are set, listed with what was spent, and removed, by token and by folder', async () => {
    await using place = await openApi(where)
    const { api } = place
    const token = await api.tokens.create({ name: 'phone', role: 'driver' })
    expect(await api.setCap({ maxCost: 20 })).toMatchObject({
      token: null,
      workspace: null,
      maxCost: 20,
      maxTokens: null,
    })
    expect(await api.setCap({ token: 'phone', maxTokens: 1000 })).toMatchObject({ token: token.id, maxTokens: 1000 })
    expect(await api.setCap({ workspace: place.home, maxCost: 0 })).toMatchObject({
      workspace: place.home,
      isReached: true,
    })
    const session = await api.startSession({ workdir: place.home })
    expect(await codeOf(session.sendPrompt('count to 2'))).toBe('spending_cap')
    expect((await api.spending()).caps.map(({ token, workspace }) => [token, workspace])).toEqual([
      ...[
        [null, null],
        [token.id, null],
        [null, place.home],
      ],
    ])
    await api.tokens.revoke('phone')
    expect(await api.removeCap({ token: token.id })).toMatchObject({ maxTokens: 1000 })
    expect(await api.removeCap({ workspace: place.home })).toMatchObject({ maxCost: 0 })
    expect(await codeOf(session.prompt('count to 2').text())).toBe('ok')
    const { total, tokens, workspaces } = await api.spending()
    expect([total.calls, total.cost]).toEqual([1, 0])
    expect([tokens[0]?.token, workspaces[0]?.workspace]).toEqual(['local', place.home])
    expect(await codeOf(api.removeCap({ token: 'phone' }))).toBe('not_found')
    expect(await codeOf(api.setCap({ token: 'phone', maxCost: 1 }))).toBe('not_found')
    expect(await codeOf(api.setCap({ workspace: '/no/such/folder', maxCost: 1 }))).toBe('bad_workdir')
    expect(await codeOf(api.spending({ day: 'today' }))).toBe('bad_request')
  })
})

describe('the caps of a program', () => {
  it.each(['sqlite:', 'jsonl:'])(
    'come from its option and the config file, and count on after a restart (%s)',
    async (kind) => {
      await mkdir(join(home, 'config'), { recursive: true })
      await writeFile(
        join(home, 'config', 'config.json'),
        JSON.stringify({ caps: [{ token: 'local', maxCost: 0.75 }] }),
      )
      await mkdir(join(home, 'work'))
      await symlink(join(home, 'work'), join(home, 'link'))
      const store = `${kind}${join(home, 'store')}`
      const caps = [{ workspace: join(home, 'link'), maxCost: 0.5 }]
      {
        await using holdfast = await open({ store, caps })
        const session = await holdfast.startSession({ workdir: join(home, 'work') })
        await session.prompt('one').text()
        expect((await holdfast.spending()).caps).toMatchObject([
          { token: 'local', setBy: 'program', spent: { cost: 0.25 } },
          { workspace: join(home, 'work'), setBy: 'program', maxCost: 0.5 },
        ])
        expect(await codeOf(holdfast.removeCap({ token: 'local' }))).toBe('not_found')
      }
      {
        await using holdfast = await open({ store, caps })
        const session = await holdfast.latest(join(home, 'work'))
        await session?.prompt('two').text()
        expect(session && (await codeOf(session.sendPrompt('three')))).toBe('spending_cap')
      }
      await using holdfast = await open({ store })
      const other = await holdfast.startSession({ workdir: home, persist: false })
      await other.prompt('one').text()
      expect(await codeOf(other.sendPrompt('two'))).toBe('spending_cap')
      expect((await holdfast.spending()).total).toMatchObject({ calls: 3, cost: 0.75 })
    },
  )

  it('are refused with a token that is not an id, and with unknown fields', async () => {
    expect(await codeOf(open({ caps: [{ token: 'phone', maxCost: 1 }] }))).toBe('bad_config')
    expect(await codeOf(open({ caps: [{ maxMoney: 1 }] as never }))).toBe('bad_config')
  })

  it('count what a session in memory spent after a restart', async () => {
    {
      await using holdfast = await open()
      const session = await holdfast.startSession({ workdir: home, persist: false })
      await session.prompt('one').text()
    }
    await using holdfast = await open()
    expect((await holdfast.spending()).total).toMatchObject({ calls: 1, cost: 0.25 })
  })
})
