import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

it('config lists, reads, changes and removes settings, and says where each comes from', async () => {
  using cli = createCli()
  const path = join(cli.home, 'config/config.json')
  expect((await cli.run(['config', 'path'])).stdout).toBe(`${path}\n`)
  expect(await cli.run(['config', 'set', 'model', 'demo/agent'])).toMatchObject({ code: 0 })
  expect(await cli.run(['config', 'set', 'providers.box.baseUrl', 'http://127.0.0.1:9'])).toMatchObject({ code: 0 })
  expect(await cli.run(['config', 'set', 'models."box/m-1.5".contextTokens', '1000'])).toMatchObject({ code: 0 })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    model: 'demo/agent',
    providers: { box: { baseUrl: 'http://127.0.0.1:9' } },
    models: { 'box/m-1.5': { contextTokens: 1000 } },
  })
  expect((await cli.run(['config', 'get', 'providers.box.baseUrl'])).stdout).toBe('http://127.0.0.1:9\n')
  const environment = { HOLDFAST_SANDBOX: 'off' }
  const listed = (await cli.run(['config'], { environment })).stdout
  expect(listed).toMatch(/^model +demo\/agent +config\.json$/m)
  expect(listed).toMatch(/^sandbox +off +HOLDFAST_SANDBOX$/m)
  expect(listed).toMatch(/^titleModel +– +default$/m)
  expect(await cli.run(['config', 'unset', 'models."box/m-1.5".contextTokens'])).toMatchObject({ code: 0 })
  expect(JSON.parse(readFileSync(path, 'utf8'))).not.toHaveProperty('models')
})

it('config refuses what is not valid with the nearest right name, and changes nothing', async () => {
  using cli = createCli()
  const unknown = await cli.run(['config', 'set', 'modle', 'x'])
  expect([unknown.code, unknown.stderr]).toEqual([2, "There is no setting 'modle'. Did you mean 'model'?\n"])
  const bad = await cli.run(['config', 'set', 'sandbox', 'maybe'])
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('sandbox: it is one of auto, on, off.')])
  const list = await cli.run(['config', 'set', 'fetchHosts', '127.0.0.1:8000'])
  expect([list.code, list.stderr]).toEqual([
    2,
    `fetchHosts is a list: holdfast config set fetchHosts '["127.0.0.1:8000"]'\n`,
  ])
  const nope = await cli.run(['config', 'set', 'model', 'demo/nope'])
  expect([nope.code, nope.stderr]).toEqual([1, expect.stringContaining('There is no model demo/nope.')])
  expect((await cli.run(['config', 'get', 'model'])).code).toBe(1)
  expect((await cli.run(['config', '--json'])).code).toBe(0)
})

it('config edit saves what an editor wrote, and keeps a bad draft beside the file', async () => {
  using cli = createCli()
  const editor = join(cli.workdir, 'editor')
  writeFileSync(editor, '#!/bin/sh\nprintf %s "$TEXT" > "$1"\n')
  chmodSync(editor, 0o755)
  const edit = (TEXT: string) => cli.runProcess(['config', 'edit'], { environment: { VISUAL: editor, TEXT } })
  expect(await edit('{"model": "demo/agent"}')).toMatchObject({ code: 0 })
  const bad = await edit('{"model": "demo/agent",}')
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringMatching(/Nothing was changed; your draft is .*draft/)])
  const unknown = await edit('{"model": "demo/nope"}')
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('There is no model demo/nope.')])
  expect((await cli.run(['config', 'get', 'model'])).stdout).toBe('demo/agent\n')
})

it('config edit keeps no draft that nobody changed, and opens vi only at a terminal', async () => {
  using cli = createCli()
  const failing = await cli.runProcess(['config', 'edit'], { environment: { VISUAL: 'false' } })
  expect([failing.code, failing.stderr]).toEqual([1, expect.stringContaining('Nothing was changed.\n')])
  expect(readdirSync(join(cli.home, 'config'))).toEqual([])
  const piped = await cli.runProcess(['config', 'edit'], { environment: { VISUAL: '', EDITOR: '' } })
  expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining('needs a terminal')])
})
