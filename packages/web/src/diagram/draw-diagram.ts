/** What the page asks of the frame that draws diagrams, and what it answers. */
export type DiagramRequest = { readonly source: string; readonly isDark: boolean }
export type DiagramAnswer = { readonly svg: string } | { readonly fault: string }

/** A frame that has not answered by then does not run, or the diagram is too large. */
const answerMs = 20_000

const unavailable: DiagramAnswer = { fault: 'The program that draws diagrams cannot be loaded. Try again.' }

let frame: Promise<Window> | null = null

/** Draws a diagram, in a frame that is loaded with the first one. */
export async function drawDiagram(request: DiagramRequest): Promise<DiagramAnswer> {
  try {
    frame ??= openFrame()
    const target = await frame
    return await within(answerMs, (done) => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = ({ data }: MessageEvent<DiagramAnswer>) => done(data)
      target.postMessage(request, location.origin, [port2])
    })
  } catch {
    document.querySelector('iframe.diagram-frame')?.remove()
    frame = null
    return unavailable
  }
}

function openFrame(): Promise<Window> {
  const element = document.createElement('iframe')
  element.className = 'diagram-frame'
  element.title = 'Draws diagrams'
  element.tabIndex = -1
  element.ariaHidden = 'true'
  element.setAttribute('sandbox', 'allow-scripts allow-same-origin') // it opens and leads nowhere
  element.src = new URL('diagram.html', document.baseURI).href
  return within(answerMs, (done) => {
    addEventListener('message', function onReady({ source, data }) {
      const { contentWindow } = element
      if (contentWindow === null || source !== contentWindow || data !== 'ready') return
      removeEventListener('message', onReady)
      done(contentWindow)
    })
    document.body.append(element)
  })
}

/** Resolves with what `start` calls back with. Rejects after `ms`. */
function within<Value>(ms: number, start: (done: (value: Value) => void) => void): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), ms)
    start((value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })
}
