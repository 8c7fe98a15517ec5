import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { FolderStep } from './first-run.tsx'

const drawn = (about: string | null) =>
  renderToStaticMarkup(createElement(FolderStep, { folder: '/lamp', sandbox: about === null ? null : { about } }))

it('promises of the folder only what the sandbox in force keeps', () => {
  const open = 'Commands run without a sandbox (bwrap is missing): an approved command can do what you can do.'
  expect(drawn(open)).toContain(`/lamp</code>. File tools stay inside it. ${open}`)
})

it('says nothing of commands until the sandbox is known', () => {
  expect(drawn(null)).toMatch(/File tools stay inside it\.<\/span>/)
})
