import { CallId, type CallView } from '@holdfast/protocol'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { toolResultView } from './tool-result.tsx'

const call = (tool: string, args: CallView['args'], text: string): CallView => ({
  id: CallId.parse(7),
  tool,
  args,
  status: 'complete',
  approval: null,
  approvedBy: null,
  durationMs: 3,
  preview: null,
  files: null,
  result: { text },
})
const drawn = (view: CallView) => renderToStaticMarkup(toolResultView(view))

it('shows a fetched page as a card with its server, its link and its text', () => {
  const html = drawn(call('fetch_url', { url: 'https://a.test/x' }, '[text/html, 9 bytes]\n\n# Lamp\n\n<b>on</b>'))
  expect(html).toContain('<strong>a.test</strong>')
  expect(html).toContain('href="https://a.test/x" target="_blank" rel="noopener noreferrer nofollow"')
  expect(html).toContain('text/html, 9 bytes')
  expect(html).toContain('&lt;b&gt;on&lt;/b&gt;')
})

it('shows a file with its numbers and a search as a list, each with hidden characters escaped', () => {
  const file = drawn(call('read_file', { path: 'a\u202e.ts' }, '1\tlet a\n2\tlet b'))
  expect(file).toContain('aria-label="Content of a\\u{202e}.ts"')
  expect(file).toContain('>1\n2</pre>')
  const found = drawn(call('grep', { pattern: 'a' }, 'a.ts\n4:la\u200bmp'))
  expect(found).toContain('1 match')
  expect(found).toContain('<li class="match" value="4"><code>la\\u{200b}mp</code></li>')
})

it('leaves other tools, other forms and failed calls to the plain view', () => {
  expect(toolResultView(call('read_file', { path: 'a' }, 'no numbers'))).toBeNull()
  expect(toolResultView(call('fetch_url', { url: 'javascript:x' }, '[a]\n\nb'))).toBeNull()
  expect(toolResultView({ ...call('grep', {}, 'a.ts'), status: 'error' })).toBeNull()
  expect(toolResultView(call('other', {}, 'a'))).toBeNull()
})
