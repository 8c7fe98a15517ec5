import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser } from './browser.ts'
import { enterFolder } from './page-fixture.ts'
import { processDisk } from './process-disk.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

describe.skipIf(!processDisk.canBeFilled)('the page of a server whose disk is full', () => {
  let browser: Browser
  let server: ServerProcess
  let home = ''

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-full-page-'))
    await mkdir(join(home, 'work'))
    browser = await openBrowser()
    server = await startServerProcess({ home })
  })
  afterAll(async () => {
    processDisk.makeRoom(server.process.pid)
    await browser.close()
    await server.stop()
    await rm(home, { recursive: true, force: true })
  })

  it('says so as long as it is so, keeps what was written, and sends it once there is room', async () => {
    const page = await browser.newPage()
    await page.goto(server.loginLink)
    const box = page.getByRole('textbox', { name: 'Message' })
    await box.fill('count to 2')
    await enterFolder(page, join(home, 'work'))
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByRole('log').getByText('1, 2.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })

    processDisk.fill(server.process.pid)
    await box.fill('count to 3')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('continues when the store accepts writes again').waitFor()
    await page.getByText('Your command was not accepted').waitFor()
    expect(await box.inputValue()).toBe('count to 3')

    processDisk.makeRoom(server.process.pid)
    await page.getByText('continues when the store accepts writes again').waitFor({ state: 'detached' })
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('log').getByText('1, 2, 3.', { exact: true }).waitFor()
    expect(await box.inputValue()).toBe('')
  })
})
