import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { usePage } from './page-fixture.ts'

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
const everything = join(manifest, '..', 'dist', 'index.js')
const hostile = new URL('../../packages/holdfast/src/tools/mcp/hostile-server.fixture.ts', import.meta.url).pathname
const mcpServers = {
  every: { command: process.execPath, args: [everything] },
  broken: { command: process.execPath, args: [hostile, 'broken'] },
  later: { command: process.execPath, args: [hostile], disabled: true },
}
const prepare = async (home: string) => {
  await mkdir(join(home, 'config'), { recursive: true })
  await writeFile(join(home, 'config', 'mcp.json'), JSON.stringify({ mcpServers }))
}

/** Waits in the page until nothing slides any more. Some animations never end. */
const slides =
  'Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished)).then(() => null)'

/** Where a person who looks at the page themselves wants its pictures. */
const pictures = process.env['PICTURES']

describe('MCP servers on the page', () => {
  const { now, startSession, say, atRest, transcript, approve } = usePage({ prepare })
  let page: Page
  beforeEach(() => {
    ;({ page } = now())
  })
  const look = async (name: string) => {
    if (pictures === undefined) return
    for (const scheme of ['light', 'dark'] as const)
      for (const [device, width, height] of [
        ['desk', 1280, 800],
        ['phone', 390, 844],
      ] as const) {
        await page.emulateMedia({ colorScheme: scheme })
        await page.setViewportSize({ width, height })
        if (name === 'servers') await openPanel() // a narrow page closes it
        await page.evaluate(slides)
        await page.screenshot({ path: join(pictures, `${name}-${device}-${scheme}.png`) })
      }
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.emulateMedia({ colorScheme: 'light' })
  }
  const openPanel = async () => {
    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    const toggle = page.getByRole('button', { name: 'Files and tasks' })
    await toggle.waitFor() // after a reload it comes with the panel
    if (!(await panel.isVisible())) await toggle.click()
    return panel.getByRole('region', { name: 'MCP servers' })
  }

  it('shows each with its state, tools and last error, and switches one off for the session', async () => {
    await startSession('count to 1')
    await atRest()
    const servers = await openPanel()
    await servers.getByRole('button', { name: 'List tools of every' }).waitFor()
    expect(await servers.getByText('yours · starts when it is needed · tools not asked for yet').count()).toBe(2)
    await servers.getByRole('button', { name: 'List tools of every' }).click()
    await servers.getByText(/yours · running · \d+ tools/).waitFor()
    const failing = page.waitForResponse((response) => response.status() === 502)
    await servers.getByRole('button', { name: 'List tools of broken' }).click()
    await failing
    await servers.getByText('yours · failed').waitFor()
    await servers.getByText(/no configuration/).waitFor()
    await servers.getByText('yours · off in its file').waitFor()
    await look('servers')
    const refused = page.waitForResponse((response) => response.status() === 502)
    await servers.getByRole('button', { name: 'Retry broken' }).click()
    await refused // a reload would cancel it
    await servers.getByText('yours · failed').waitFor()
    await servers.getByRole('checkbox', { name: 'every' }).click()
    await servers.getByRole('checkbox', { name: 'every', checked: false }).waitFor()
    await say('call mcp__every__echo {"message": "hi"}')
    await transcript().getByText('this session does not offer the tool mcp__every__echo').first().waitFor()
    await atRest()
    await page.reload()
    const again = await openPanel()
    await again.getByRole('checkbox', { name: 'every', checked: false }).click()
    await again.getByRole('checkbox', { name: 'every', checked: true }).waitFor()
    await say('call mcp__every__echo {"message": "back again"}')
    await approve()
    await transcript().getByText('Echo: back again').first().waitFor()
    await atRest()
    // The browser itself reports that the retry was refused.
    expect(now().complaints).toEqual([expect.stringContaining('502'), expect.stringContaining('502')])
  })

  it('puts a question of a server to the person, in a form', async () => {
    await startSession('call mcp__every__trigger-elicitation-request')
    await approve()
    const card = page.getByRole('region', { name: 'every asks you' })
    await card.waitFor()
    await look('question')
    const send = card.getByRole('button', { name: 'Send answer' })
    await send.click()
    await card.getByText(/needs a value for name/).waitFor()
    await card.getByRole('textbox', { name: 'String', exact: true }).fill('Ada')
    await send.click()
    await card.waitFor({ state: 'detached' })
    await transcript().getByText(/Ada/).first().waitFor()
    await atRest()
    await say('call mcp__every__trigger-elicitation-request')
    await approve()
    await card.getByRole('button', { name: 'Decline' }).click()
    await transcript()
      .getByText(/declined/i)
      .first()
      .waitFor()
    await atRest()
    expect(now().complaints).toEqual([])
  })

  it('completes the prompts of servers as commands', async () => {
    await startSession('call mcp__every__echo {"message": "hi"}') // its prompts are known from then on
    await approve()
    await atRest()
    await page.getByRole('textbox', { name: 'Message' }).fill('/mcp__every__')
    await page.getByRole('option', { name: /mcp__every__args-prompt/ }).waitFor()
  })
})
