import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { createStreamingParser, parseMarkdown } from './parse-markdown.ts'

const spec = readFileSync(createRequire(import.meta.url).resolve('commonmark-spec/spec.txt'), 'utf8')

/** The examples of the CommonMark specification. In it a tab is an arrow. */
const examples = [...spec.matchAll(/^`{32} example\n([\s\S]*?)^\.\n[\s\S]*?^`{32}$/gm)].map(([, markdown = '']) =>
  markdown.replaceAll('→', '\t'),
)

it('gives the same blocks for a growing text as for the whole, at every letter of every example of CommonMark', () => {
  expect(examples.length).toBeGreaterThan(600)
  const different = examples.flatMap((example) => {
    const parse = createStreamingParser()
    const prefixes = Array.from({ length: example.length }, (_, end) => example.slice(0, end + 1))
    return prefixes.filter((prefix) => JSON.stringify(parse(prefix)) !== JSON.stringify(parseMarkdown(prefix)))
  })
  expect(different).toEqual([])
})

it('gives the same blocks when all examples are one text', () => {
  const parse = createStreamingParser()
  const different: number[] = []
  let grown = ''
  for (const [index, example] of examples.filter((one) => !one.includes(']:')).entries()) {
    grown = `${grown}${example}\n`
    const streamed = parse(grown)
    if (index % 10 !== 0) continue // the whole text takes long to parse
    if (JSON.stringify(streamed) !== JSON.stringify(parseMarkdown(grown))) different.push(index)
  }
  expect(different).toEqual([])
})
