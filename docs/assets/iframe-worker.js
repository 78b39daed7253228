// Browsers refuse workers to pages that are opened from disk; search runs in a hidden frame there.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      frame.srcdoc = "<body></body>";
      frame.onload = () => {
        const inner = frame.contentWindow;
        inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inner.document.createElement("script");
        script.src = new URL(url, location.href);
        script.onload = () => {
          this.inner = inner;
          for (const data of this.waiting.splice(0)) this.postMessage(data);
        };
        inner.document.body.append(script);
      };
      document.body.append(frame);
    }

    postMessage(data) {
      if (this.inner) this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
}
