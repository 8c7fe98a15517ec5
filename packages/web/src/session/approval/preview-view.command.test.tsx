import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { PreviewBody } from './preview-view.tsx'

it('says with each command what an approved command can do', () => {
  const preview = { type: 'command' as const, command: 'make', cwd: '/work' }
  const drawn = renderToStaticMarkup(createElement(PreviewBody, { preview }))
  expect(drawn).toContain('An approved command can do what you can do.')
})
