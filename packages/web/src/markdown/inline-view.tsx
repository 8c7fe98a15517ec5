import type { Inline } from '@holdfast/client/markdown'
import { escapeHidden, escapeLine } from '@holdfast/protocol'
import type { MouseEvent, ReactNode } from 'react'
import { inOrder } from '../ui/elements.tsx'
import { MathView } from './math-view.tsx'

/** Draws the text of a block. */
export const inlines = (all: readonly Inline[]): ReactNode => inOrder(all, inlineView)

function inlineView(inline: Inline): ReactNode {
  switch (inline.type) {
    case 'text':
      return inline.text
    case 'code':
      return <code>{escapeHidden(inline.text)}</code>
    case 'strong':
      return <strong>{inlines(inline.inner)}</strong>
    case 'emphasis':
      return <em>{inlines(inline.inner)}</em>
    case 'struck':
      return <s>{inlines(inline.inner)}</s>
    case 'link':
      return <WebLink href={inline.href}>{inlines(inline.inner)}</WebLink>
    case 'image':
      return <ImageView href={inline.href} text={inline.text} />
    case 'math':
      return <MathView tex={inline.tex} isDisplay={inline.isDisplay} />
    case 'footnote':
      return <FootnoteLink number={inline.number} />
  }
}

type WebLinkProps = { readonly href: string; readonly className?: string; readonly children: ReactNode }

const WebLink = ({ href, className, children }: WebLinkProps) => (
  <a className={className} href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
    {children}
  </a>
)

type ImageViewProps = { readonly href: string; readonly text: string }

/** Shows a picture that the text holds. One on the web is a link: to load it would tell its server who reads it, and when. */
function ImageView({ href, text }: ImageViewProps) {
  const name = escapeLine(text)
  if (href.startsWith('data:')) return <img className="inline-image" src={href} alt={name} />
  return (
    <WebLink className="image-link" href={href}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M2.500 3.500h11v9h-11zM2.500 11l3-3 2.500 2.500 2-2 3.500 3M10.500 6.250h.01" />
      </svg>
      <span>{name || 'Image'}</span>
      <small>{new URL(href).hostname}</small>
    </WebLink>
  )
}

/** Goes to a note. A button, because the address after the # is the page's own. */
function FootnoteLink({ number }: { readonly number: number }) {
  const show = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    const note = currentTarget.closest('.prose')?.querySelector<HTMLElement>(`[data-footnote="${number}"]`)
    note?.scrollIntoView({ block: 'nearest' })
    note?.focus({ preventScroll: true })
  }
  return (
    <sup>
      <button type="button" className="link footnote-link" aria-label={`Footnote ${number}`} onClick={show}>
        {number}
      </button>
    </sup>
  )
}
