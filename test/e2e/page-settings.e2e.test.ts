import { connectHoldfast } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { findAxeProblems } from './axe.ts'
import { createPerson, openTab, usePage } from './page-fixture.ts'

describe('the settings of the page', () => {
  const { now } = usePage({ env: { GROQ_BASE_URL: 'http://127.0.0.1:9/v1' } })

  it('sets theme and density, which are there before the first paint after a reload, and in other tabs', async () => {
    const { page, server, context, complaints } = now()
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(server.url)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    const { page: other } = await openTab(context)
    await other.goto(`${server.url}/#/settings`)
    await other.getByRole('heading', { name: 'Appearance' }).waitFor()
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await ground()
    await page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'Dark' }).click()
    await page.getByRole('group', { name: 'Density' }).getByRole('button', { name: 'Compact' }).click()
    expect(await ground()).not.toBe(light)
    await expect.poll(() => other.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    const chosen = () => page.evaluate('JSON.stringify({ ...document.documentElement.dataset })')
    await page.route(/\/assets\/.*\.js$/, (route) => route.abort()) // nothing of the page runs but theme.js
    await page.goto(server.url)
    expect(await chosen()).toBe('{"theme":"dark","density":"compact"}')
    await page.unroute(/\/assets\/.*\.js$/)
    await page.goto(`${server.url}/#/settings`)
    await page.reload()
    await page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'System' }).click()
    expect(await ground()).toBe(light)
    expect(complaints.filter((line) => !line.includes('ERR_FAILED'))).toEqual([])
  })

  it('adds and removes a key that it never shows, sets the default model, and has nothing for axe to find', async () => {
    const { page, server } = now()
    const secret = `made-for-settings-${'Z0'.repeat(8)}`
    await page.goto(`${server.url}/#/settings`)
    await page.getByRole('button', { name: 'Add a key for Groq' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a key for Groq' })
    await dialog.getByLabel('Key').fill(secret)
    await dialog.getByRole('button', { name: 'Check and save' }).click()
    await dialog.getByRole('button', { name: 'Save without a check' }).click()
    await page.getByText('ready, with a stored key').waitFor()
    expect(await page.content()).not.toContain(secret)
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 })
        await page.emulateMedia({ colorScheme })
        expect(await findAxeProblems(page)).toEqual([])
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('combobox', { name: /^Model: / }).click()
    await page.getByRole('combobox', { name: 'Search: Model' }).fill('groq')
    await page.getByRole('option').first().click()
    await page.getByText(/^New sessions use groq\//).waitFor()
    await page.getByRole('button', { name: 'Remove the key of Groq' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Add a key for Groq' }).waitFor()
  })

  it('lists and creates tokens, shows and removes rules, prunes, empties the trash, and tells version and health', async () => {
    const { page, server, complaints, workdir } = now()
    const holdfast = connectHoldfast(server.url, server.token)
    await holdfast.addPermission({ tool: 'shell', pattern: 'git status', verdict: 'allow' })
    const session = await holdfast.startSession({ workdir, model: 'demo/agent' })
    await session.sendPrompt('count to 2')
    await expect.poll(async () => (await holdfast.list()).sessions.map(({ status }) => status)).toEqual(['idle'])
    // Nothing is inactive for a day yet: the page is told a later time.
    await page.addInitScript('Date.now = ((now) => () => now() + 3 * 86_400_000)(Date.now.bind(Date))')
    await page.goto(`${server.url}/#/settings`)
    await page.getByRole('textbox', { name: 'Name' }).fill('a reader')
    await page.getByRole('button', { name: 'Create a token' }).click()
    const secret = await page.getByRole('textbox', { name: /Copy it now/ }).inputValue()
    const read = await fetch(`${server.url}/v1/access`, { headers: { authorization: `Bearer ${secret}` } })
    expect(await read.json()).toMatchObject({ role: 'viewer' })
    await page.getByRole('button', { name: 'Revoke a reader' }).click()
    await page.getByRole('button', { name: 'Revoke a reader' }).waitFor({ state: 'detached' })
    await page.getByRole('list', { name: 'Permission rules' }).getByText('runs without asking').waitFor()
    await page.getByRole('button', { name: 'Remove the rule for shell git status' }).click()
    await page.getByText('No rule yet: calls that change something ask.').waitFor()
    expect(await holdfast.permissions()).toEqual([])
    await page.getByRole('spinbutton', { name: 'Days' }).fill('1')
    await page.getByRole('button', { name: 'Move to trash…' }).click()
    const prune = page.getByRole('alertdialog', { name: 'Move inactive sessions to the trash?' })
    await prune.getByText('1 session will move.').waitFor()
    await prune.getByRole('button', { name: 'Move to trash' }).click()
    await page.getByText('1 session moved to the trash.').waitFor()
    expect((await holdfast.list()).sessions).toEqual([])
    await page.getByRole('button', { name: 'Empty trash…' }).click()
    const confirm = page.getByRole('alertdialog', { name: 'Empty the trash?' })
    await confirm.getByText('1 session will be deleted.').waitFor()
    await confirm.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText(/^Holdfast \d/).waitFor()
    await page.getByText('works: it accepts writes').waitFor()
    expect(complaints.filter((line) => !line.includes('409'))).toEqual([]) // the list asks for what was moved
  })

  it('turns notifications on and off, and says so where a phone refuses them', async () => {
    const { page, server, context } = now()
    const stub = (userAgent: string, fails: boolean) => `
      let permission = 'default'
      Object.defineProperty(navigator, 'userAgent', { get: () => '${userAgent}' })
      globalThis.Notification = class extends EventTarget {
        static get permission() { return permission }
        static async requestPermission() { permission = 'granted'; return permission }
        constructor() { super(); if (${fails}) throw new TypeError('Illegal constructor') }
        close() {}
      }
    `
    await page.addInitScript(stub('Linux', false))
    await page.goto(`${server.url}/#/settings`)
    const notify = page.getByRole('switch', { name: 'Notify me when a session waits for me' })
    await notify.click()
    await expect.poll(() => notify.getAttribute('aria-checked')).toBe('true')
    await notify.click()
    await expect.poll(() => notify.getAttribute('aria-checked')).toBe('false')
    const { page: phone } = await openTab(context)
    await phone.addInitScript(stub('Android', true))
    await phone.goto(`${server.url}/#/settings`)
    await phone.getByRole('switch', { name: 'Notify me when a session waits for me' }).click()
    await phone.getByText('This browser cannot show them here.').waitFor()
  })
})

describe('the settings of a page with its own login', () => {
  const { now } = usePage()

  it('log it out at the server, with its other tabs', async () => {
    const { browser, server } = now()
    const made = await fetch(`${server.url}/v1/login-links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
    })
    const { link } = (await made.json()) as { readonly link: string } // as the server sends it
    const context = await browser.newContext()
    const { page } = await openTab(context)
    await page.goto(link)
    const { page: other } = await openTab(context)
    await other.goto(server.url)
    await other.getByRole('link', { name: 'Settings' }).waitFor()
    const cookies = await context.cookies()
    await page.goto(`${server.url}/#/settings`)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor()
    await other.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor()
    expect(await context.cookies()).toEqual([])
    await context.addCookies(cookies) // a copy of the cookie is of no use
    await page.reload()
    await page.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor()
    await context.close()
  })
})

describe('the page of an admin of a tenant', () => {
  const { now } = usePage({ env: { HOLDFAST_STORE: 'memory:' } })

  it('shows what is theirs, and asks the server for nothing that it refuses', async () => {
    const { browser, server, workdir } = now()
    const created = await fetch(`${server.url}/v1/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'anna', role: 'admin', tenant: 'acme' }),
    })
    const { secret } = (await created.json()) as { readonly secret: string } // as the server sends it
    const context = await browser.newContext()
    const { page, complaints } = await openTab(context)
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url())
    })
    await page.goto(server.url)
    await page.getByLabel('Or log in with a token').fill(secret)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('You are an admin of acme.').waitFor()
    await page.getByRole('button', { name: 'Revoke anna' }).waitFor()
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).not.toContain('Permission rules')
    expect(await page.getByRole('button', { name: /Add a key/ }).count()).toBe(0)
    await page.getByText(/^Holdfast \d/).waitFor()

    const anna = createPerson(() => ({ page, server, workdir }))
    await anna.startSession('run echo hello')
    const scopes = page.getByRole('group', { name: 'Approve for' })
    await scopes.getByText('This session').waitFor()
    expect(await scopes.getByText('Always here').count()).toBe(0)
    await anna.approve()
    await anna.atRest()
    expect(refused).toEqual([])
    expect(complaints.filter((line) => !line.includes('401'))).toEqual([]) // those before the login
    await context.close()
  })
})
