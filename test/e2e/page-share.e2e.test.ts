import { connectHoldfast } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { openTab, usePage } from './page-fixture.ts'

/** What a script of the page could read. */
const kept = 'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])'

/** Where to save screenshots, for people; nowhere by default. */
const shots = process.env['HOLDFAST_SHOTS']
const looks = [
  ['desk-light', { width: 1280, height: 800 }, 'light'],
  ['desk-dark', { width: 1280, height: 800 }, 'dark'],
  ['phone-light', { width: 390, height: 780 }, 'light'],
  ['phone-dark', { width: 390, height: 780 }, 'dark'],
] as const

describe('sharing a session on the page', () => {
  const { now, openMore, count, transcript } = usePage()

  async function shoot(page: ReturnType<typeof now>['page'], name: string): Promise<void> {
    for (const [look, size, colorScheme] of shots === undefined ? [] : looks) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${shots}/${name}-${look}.png` })
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  }

  it('creates a link that shows the session as it grows, with nothing to use, until it is revoked', async () => {
    const { page, browser, server, complaints } = now()
    await count(3)
    await (await openMore()).getByRole('menuitem', { name: 'Share…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Share this session' })
    await dialog.getByRole('button', { name: 'Create a link' }).click()
    const link = await dialog.getByRole('textbox', { name: 'The link' }).inputValue()
    await dialog.getByRole('button', { name: 'Revoke' }).waitFor()
    await shoot(page, 'share-dialog')

    const stranger = await browser.newContext()
    const { page: shown, complaints: strangerComplaints } = await openTab(stranger)
    const streams: string[] = []
    shown.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (/\/(events|stream)$/.test(pathname)) streams.push(pathname)
    })
    let isAway = true
    await shown.route('**/v1/login', (route) => (isAway ? route.abort() : route.continue()))
    await shown.goto(link)
    await shown.getByRole('heading', { name: 'The server does not respond' }).waitFor()
    isAway = false
    const log = shown.getByRole('log', { name: 'Transcript' })
    await log.getByText('1, 2, 3.', { exact: true }).waitFor()
    expect(streams).toHaveLength(1)
    const secret = new URL(link).hash.slice(1)
    expect(shown.url()).not.toContain(secret)
    expect(await shown.evaluate<string>(kept)).not.toContain(secret)
    await shoot(shown, 'shared')

    // Nothing that looks usable: no input, no menus, no list; only folding and scrolling.
    expect(await shown.getByRole('textbox').count()).toBe(0)
    for (const name of [
      'Pin',
      'Branch, fork or rewind',
      'Send',
      'More',
      'Files and tasks',
      'Continue',
      'Show sessions',
    ])
      expect([name, await shown.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0])

    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('count to 4')
    await page.getByRole('button', { name: 'Send' }).click()
    await log.getByText('1, 2, 3, 4.', { exact: true }).waitFor()

    // A tab that nobody sees has no stream, and catches up when it is seen.
    const ended = shown.waitForEvent('requestfailed', (request) => request.url().includes('/events'))
    await shown.evaluate<void>(`
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })
      document.dispatchEvent(new Event('visibilitychange'))
      const other = new BroadcastChannel('holdfast.screens')
      for (const _ of [1, 2]) other.postMessage({ type: 'shown' }) // two other tabs are shown
    `)
    await ended
    await page.getByRole('textbox', { name: 'Message' }).fill('count to 5')
    await page.getByRole('button', { name: 'Send' }).click()
    await transcript().getByText('1, 2, 3, 4, 5.', { exact: true }).waitFor()
    expect([streams.length, await log.getByText('1, 2, 3, 4, 5.', { exact: true }).count()]).toEqual([1, 0])
    await shown.evaluate<void>(`
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => false })
      void document.dispatchEvent(new Event('visibilitychange'))
    `)
    await log.getByText('1, 2, 3, 4, 5.', { exact: true }).waitFor()
    await shown.reload()
    await log.getByText('1, 2, 3, 4.', { exact: true }).waitFor()

    await (await openMore()).getByRole('menuitem', { name: 'Share…' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await shown.getByRole('heading', { name: 'This link does not work' }).waitFor()
    await shoot(shown, 'shared-ended')
    await shown.goto('about:blank')
    await shown.goto(link)
    await shown.getByRole('heading', { name: 'This link does not work' }).waitFor()
    expect(strangerComplaints.filter((line) => !/401|ERR_FAILED/.test(line))).toEqual([])
    expect(complaints).toEqual([])
    expect(await transcript().count()).toBe(1)
    await stranger.close()
    expect(await connectHoldfast(server.url, server.token).tokens.list()).toEqual([])
  })

  it('says on the signed-out screen how to get in again, and takes a token', async () => {
    const { browser, server } = now()
    const stranger = await browser.newContext()
    const { page } = await openTab(stranger)
    await page.goto(server.url)
    await page.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor()
    await page.getByText('holdfast open').waitFor()
    await page.getByText('holdfast login').waitFor()
    await shoot(page, 'signed-out')
    const field = page.getByLabel('Or log in with a token')
    await field.fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').getByText('revoked or has expired').waitFor()

    const { tokens } = connectHoldfast(server.url, server.token)
    const { secret, id } = await tokens.create({ name: 'desk', role: 'driver' })
    await field.fill(secret)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Start session' }).waitFor()
    await tokens.revoke(id)
    await page.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor()
    await stranger.close()
  })
})
