import { existsSync } from 'node:fs'
import { connectHoldfast } from '@holdfast/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const jsonOf = (text: string) => JSON.parse(text)

describe('caps', () => {
  it.each([
    [['caps', 'set']],
    [['caps', 'set', '--cost', 'much']],
    [['caps', 'set', '--cost', '-1']],
    [['caps', 'set', '--tokens', '1.5']],
    [['caps', 'set', '5']],
    [['caps', 'set', '--cost', '1', '--token', 'local', '--workspace', '.']],
    [['caps', '--cost', '1']],
    [['caps', 'remove', '--day', '2026-01-31']],
    [['caps', 'raise']],
  ])('refuses %j', async (args) => {
    expect(await cli.run(args)).toMatchObject({ code: 2, stdout: '' })
    expect(existsSync(cli.home)).toBe(false)
  })

  it('say which limit is gone when another replaces it', async () => {
    const first = await cli.run(['caps', 'set', '--cost', '5'])
    expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining('is gone')])
    const second = await cli.run(['caps', 'set', '--tokens', '10'])
    expect([second.code, second.stderr]).toEqual([0, expect.stringContaining('The limit of $5 is gone.')])
    const both = await cli.run(['caps', 'set', '--tokens', '10', '--cost', '5'])
    expect([both.code, both.stderr]).toEqual([0, expect.not.stringContaining('is gone')])
  })

  it('stop a token cleanly over HTTP, go on when raised, and are right after a kill', async () => {
    expect((await cli.run(['caps'])).stderr).toContain('There is no store yet')
    expect(existsSync(cli.home)).toBe(false)
    const server = cli.start(['serve', '--port', '0'])
    const [, url = ''] = await server.until('stdout', /^(http:\/\/127\.0\.0\.1:\d+)\/login\?code=\S+/)
    const secretOf = async (name: string) =>
      (await cli.run(['token', 'create', name, '--role', 'driver'])).stdout.trim()
    const [anna, ben] = [await secretOf('anna'), await secretOf('ben')]
    const set = await cli.run(['caps', 'set', '--tokens', '1', '--token', 'anna'])
    expect([set.code, set.stderr]).toEqual([0, expect.stringContaining('1 tokens a day. $0.0000 was spent today.')])

    const annas = await connectHoldfast(url, anna).startSession({ workdir: cli.workdir, model: 'demo/agent' })
    const bens = await connectHoldfast(url, ben).getSession(annas.id)
    await annas.prompt('count to 2').text()
    const refused = await fetch(`${url}/v1/sessions/${annas.id}/commands`, {
      method: 'POST',
      headers: { authorization: `Bearer ${anna}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'sendPrompt', content: 'count to 2' }),
    })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(jsonOf(await refused.text()).error).toMatchObject({ code: 'spending_cap', details: { maxTokens: 1 } })
    await bens.prompt('count to 2').text()

    const here = await cli.run(['caps'])
    expect(here.stdout).toMatch(/^anna \(tok_\w{16}\)\s+1\s+\d+\s+\$0\.0000/m)
    expect(here.stdout).toMatch(/^token anna \(tok_\w{16}\)\s+1\s+\$0\.0000\s+\d+\s+reached, opens \S+\s+person/m)
    const far = jsonOf((await cli.run(['caps', '--url', url, '--json'])).stdout)
    expect(far.tokens.map(({ name, calls }: { name: string; calls: number }) => [name, calls]).toSorted()).toEqual([
      ['anna', 1],
      ['ben', 1],
    ])

    await cli.run(['caps', 'set', '--tokens', '1000000', '--token', 'anna'])
    await annas.prompt('count to 2').text()
    server.kill('SIGKILL')
    await server.ended
    const after = jsonOf((await cli.run(['caps', '--json'])).stdout)
    expect(after.total).toMatchObject({ calls: 3, unpriced: 0, cost: 0 })
    expect((await cli.run(['caps', 'remove', '--token', 'anna'])).stderr).toContain(
      'Removed the cap for token anna (tok_',
    )
    expect(await cli.run(['caps', 'remove', '--token', 'anna'])).toMatchObject({ code: 1 })
  })
})
