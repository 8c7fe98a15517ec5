import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findAxeProblems } from './axe.ts'
import { usePage } from './page-fixture.ts'

/** A PNG of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Drops or pastes a file on the input box. */
const give = (page: Page, how: 'drop' | 'paste', name: string, type: string, base64: string) =>
  page.evaluate<void>(`{
    const bytes = Uint8Array.from(atob('${base64}'), (letter) => letter.charCodeAt(0))
    const data = new DataTransfer()
    data.items.add(new File([bytes], '${name}', { type: '${type}' }))
    const box = document.querySelector('[aria-label="Message"]')
    const event = '${how}' === 'drop'
      ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
      : new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
    box.dispatchEvent(event)
  }`)

describe('the input box of a session', () => {
  // A second model that can be chosen. Nothing asks it.
  const env = { HOLDFAST_MODEL: 'demo/agent', GROQ_API_KEY: 'made-for-tests', GROQ_BASE_URL: 'http://127.0.0.1:9/v1' }
  const { now, startSession, atRest, say, transcript, answer } = usePage({ env })
  const box = () => now().page.getByRole('textbox', { name: 'Message', exact: true })

  it('keeps text that is typed while a prompt is sent, also if it begins with that prompt', async () => {
    const { page } = now()
    await startSession('list')
    await atRest()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(/\/commands$/, async (route) => {
      await released
      await route.continue()
    })
    await box().fill('count')
    await page.keyboard.press('Enter')
    await page.getByText('Sending “count”').waitFor()
    await box().fill('count to 3')
    release()
    await page.getByText('Sending “count”').waitFor({ state: 'detached' })
    expect(await box().inputValue()).toBe('count to 3')
  })

  it('takes files by drop and paste, shows them, and sends them with the prompt', async () => {
    const { page, complaints } = now()
    await startSession('list')
    await atRest()
    await give(page, 'drop', 'pixel.png', 'image/png', pixel)
    await give(page, 'paste', 'note.txt', 'text/plain', Buffer.from('a note').toString('base64'))
    const files = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem')
    await expect.poll(() => files.count()).toBe(2)
    await files.nth(0).locator('img').waitFor()
    await expect.poll(() => files.locator('progress').count()).toBe(0)
    expect(await findAxeProblems(page, '.dock')).toEqual([])
    await give(page, 'paste', 'odd.bin', 'application/x-odd', Buffer.from([0, 1, 2, 255]).toString('base64'))
    await files.nth(2).getByRole('alert').getByText('a type that no model accepts').waitFor()
    await page.getByRole('button', { name: 'Remove odd.bin' }).click()
    await box().fill('what is this?')
    await page.getByRole('button', { name: 'Send' }).click()
    await files.first().waitFor({ state: 'detached' })
    await transcript().getByText('note.txt').first().waitFor()
    await atRest()
    expect(complaints.filter((line) => !/400|415/.test(line))).toEqual([])
  })

  it('completes files after @ and commands after /, and steps through earlier prompts', async () => {
    const { page, workdir } = now()
    await mkdir(join(workdir, 'src'))
    await writeFile(join(workdir, 'src', 'lamp.ts'), '')
    await startSession('count to 2')
    await answer(2).waitFor()
    await atRest()
    await box().pressSequentially('read @la')
    await page.getByRole('listbox', { name: 'Files' }).getByRole('option', { name: 'src/lamp.ts' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await box().inputValue()).toBe('read @src/lamp.ts ')
    await box().fill('')
    await box().pressSequentially('/comp')
    await page.getByRole('listbox', { name: 'Slash commands' }).getByRole('option', { name: '/compact' }).waitFor()
    expect(await findAxeProblems(page, '.dock')).toEqual([])
    await page.keyboard.press('Escape')
    await box().fill('')
    await say('list')
    await atRest()
    await box().focus()
    await page.keyboard.press('ArrowUp')
    expect(await box().inputValue()).toBe('list')
    await page.keyboard.press('ArrowUp')
    expect(await box().inputValue()).toBe('count to 2')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await box().inputValue()).toBe('')
    await box().fill('a draft')
    await page.reload()
    expect(await box().inputValue()).toBe('a draft')
  })

  it('changes model and thinking level, carries out an accepted plan, and explains context and cost', async () => {
    const { page, server, complaints } = now()
    await startSession('list')
    await atRest()
    await page.getByRole('button', { name: 'Thinking: off' }).click()
    await page.getByRole('menuitemradio', { name: /^Low/ }).click()
    await page.getByRole('button', { name: 'Thinking: low' }).waitFor()
    const handle = orThrow(await server.sessions.open(page.url().split('/s/').at(-1) ?? ''))
    const model = async () => orThrow(await handle.state(['model'])).model
    const choose = async (name: RegExp) => {
      await page.getByRole('combobox', { name: /^Model: / }).click()
      await page.getByRole('option', { name }).first().click()
    }
    await choose(/groq\//)
    await expect.poll(model).toMatch(/^groq\//)
    const other = (await model()).split('/').slice(1).join('/')
    await page.locator('.session-header').getByText(other).waitFor()
    await choose(/demo\/agent/)
    await expect.poll(model).toBe('demo/agent')
    await page.getByRole('group', { name: 'Mode' }).getByRole('button', { name: 'Plan' }).click()
    await page.getByRole('checkbox', { name: 'Keep the plan' }).waitFor()
    await say('plan a walk')
    await page.getByRole('button', { name: 'Accept plan and run' }).click()
    await transcript().getByText('Carry out the plan.', { exact: true }).waitFor()
    await atRest()
    const exec = page.getByRole('group', { name: 'Mode' }).getByRole('button', { name: 'Exec' })
    expect(await exec.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: /^Context \d+ % full/ }).click()
    const panel = page.getByRole('dialog', { name: 'Context and cost' })
    await panel.getByText(/old messages are summarized/).waitFor()
    await panel.getByText('Cost of the session so far').waitFor()
    expect(await findAxeProblems(page, '.popover')).toEqual([])
    expect(complaints).toEqual([])
  })
})
