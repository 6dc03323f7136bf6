// Pages from the file system can neither start a worker nor fetch a file. The worker's stand-in is a frame that loads its
// script and has a window, so globals, of its own. What the theme would fetch, a map of the site that no page needs,
// fails without a message. This is only in the site's zip.
if (location.protocol === "file:") {
  XMLHttpRequest.prototype.send = function send() {
    queueMicrotask(() => this.dispatchEvent(new ProgressEvent("error")));
  };

  window.Worker = class extends EventTarget {
    #waiting = [];
    #inside;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.onload = () => {
        this.#inside = inside;
        this.#waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      script.src = new URL(url, location);
      inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.#inside) this.#inside.dispatchEvent(new MessageEvent("message", { data }));
      else this.#waiting.push(data);
    }
  };
}
