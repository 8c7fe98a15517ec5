import { languageOfPath } from '@holdfast/client/language-names'
import { safeHref } from '@holdfast/client/markdown'
import { type CallView, escapeHidden, escapeLine } from '@holdfast/protocol'
import type { ReactNode } from 'react'
import { CodeText } from '../../code/code-text.tsx'
import { Markdown } from '../../markdown/markdown.tsx'
import { counted } from '../../text/format.ts'
import { inOrder } from '../../ui/elements.tsx'
import { ScrollBox } from '../../ui/scroll-box.tsx'
import { parseFetchResult, parseFileResult, parseSearchResult } from './read-result.ts'

type Result = NonNullable<CallView['result']>

/** Returns how a finished call is shown by its tool; null if it has no view of its own, or its result another form. */
export function toolResultView({ tool, args, status, result }: CallView): ReactNode | null {
  if (result === null || status !== 'complete' || result.blob) return null
  const [path, url] = [textOf(args['path']), textOf(args['url'])]
  if (tool === 'read_file' && path !== null) return fileView(path, result)
  if (tool === 'grep' || tool === 'find' || tool === 'list_directory') return searchView(result)
  if (tool === 'fetch_url' && url !== null) return fetchView(url, result)
  return null
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Shows a file that was read, with its line numbers and in colour. */
function fileView(path: string, { text }: Result): ReactNode | null {
  const file = parseFileResult(text)
  if (file === null) return null
  const numbers = Array.from({ length: file.lines }, (_, index) => file.first + index).join('\n')
  return (
    <figure className="read-file" aria-label={`Content of ${escapeLine(path)}`}>
      <figcaption>
        {file.lines === 1
          ? `line ${file.first.toLocaleString('en')}`
          : `lines ${file.first.toLocaleString('en')} to ${(file.first + file.lines - 1).toLocaleString('en')}`}
      </figcaption>
      <ScrollBox className="output read-lines" aria-label="Result">
        <pre className="line-numbers" aria-hidden="true">
          {numbers}
        </pre>
        <pre>
          <code>
            <CodeText language={languageOfPath(path)} text={file.text} />
          </code>
        </pre>
      </ScrollBox>
      <Notes notes={file.notes} />
    </figure>
  )
}

/** Shows what was found, by file. */
function searchView({ text }: Result): ReactNode {
  const { files, notes } = parseSearchResult(text)
  return (
    <>
      {files.length > 0 && (
        <ScrollBox className="output found" aria-label="Result">
          <ul>
            {inOrder(files, ({ path, lines }) => (
              <li>
                <code className="found-path">{escapeLine(path)}</code>
                {lines.length > 0 && (
                  <span className="found-count">
                    {counted(lines.filter(({ isMatch }) => isMatch).length, 'match', 'matches')}
                  </span>
                )}
                {lines.length > 0 && (
                  <ol>
                    {inOrder(lines, ({ number, text, isMatch }) => (
                      <li className={isMatch ? 'match' : undefined} value={number}>
                        <code>{escapeHidden(text)}</code>
                      </li>
                    ))}
                  </ol>
                )}
              </li>
            ))}
          </ul>
        </ScrollBox>
      )}
      <Notes notes={notes} />
    </>
  )
}

/** Shows a page that was fetched: where it is, what it is, and its text. */
function fetchView(url: string, { text }: Result): ReactNode | null {
  const page = parseFetchResult(text)
  const href = safeHref(url)
  if (page === null || href === null) return null
  return (
    <article className="page-card" aria-label={`Page ${escapeLine(url)}`}>
      <header>
        <strong>{new URL(href).hostname}</strong>
        <a href={href} target="_blank" rel="noopener noreferrer nofollow">
          {escapeLine(url)}
        </a>
        <small>{escapeLine(page.about)}</small>
      </header>
      <ScrollBox className="output prose" aria-label="Result">
        <Markdown text={page.text} />
      </ScrollBox>
    </article>
  )
}

const Notes = ({ notes }: { readonly notes: readonly string[] }) =>
  inOrder(notes, (note) => <p className="nothing">{escapeLine(note)}</p>)
